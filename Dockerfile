# The strata command and the Python package in a small image, from the sources beside this file. To
# read traces:
#
#   docker build -t strata .
#   docker run --rm -v "$PWD:/work" strata report trace.json.gz --html report.html
#
# To record, install the wheel into the image of your program instead: `pip install strata-profiler`,
# or COPY --from=strata /wheels /wheels and `pip install /wheels/*.whl`.
FROM python:3.12-slim-bookworm AS build
# The base image pins the release, and only the first stage has these packages.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends build-essential nasm \
    && rm -rf /var/lib/apt/lists/*
COPY . /src
# Libraries and the bundler of the HTML page are fetched by their checksums (subprojects/*.wrap).
RUN pip wheel --no-cache-dir --no-deps -w /wheels \
        --config-settings=setup-args=--wrap-mode=forcefallback /src

FROM python:3.12-slim-bookworm
COPY --from=build /wheels /wheels
RUN pip install --no-cache-dir --no-index /wheels/*.whl && strata --version
WORKDIR /work
ENTRYPOINT ["strata"]
CMD ["--help"]
