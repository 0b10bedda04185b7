"""client.py N [slow]: N requests, one after the other; waits until the server is there."""
import os
import sys
import time
import urllib.request

URL = f"http://127.0.0.1:{os.environ['PORT']}/generate"
for _ in range(300):
    try:
        urllib.request.urlopen(URL, timeout=5).read()
        break
    except OSError:
        time.sleep(0.1)
for _ in range(int(sys.argv[1]) - 1):
    urllib.request.urlopen(URL + ("?slow" if "slow" in sys.argv else ""), timeout=5).read()
