// simdjson_walk.cpp: the peer to beat: simdjson On-Demand on one thread, walking the events and
// reading what a profiler needs of each: ts, dur, name, cat, ph, correlation, External id.
//
// Prints one JSON object. `seconds` is the walk alone: the file is already in memory.
#include <simdjson.h>

#include <chrono>
#include <cstdio>
#include <string_view>

using namespace simdjson;
using std::string_view;

struct sums {
    size_t events = 0, metadata = 0, text_bytes = 0;
    double device_us = 0, all_us = 0;
    int64_t ids = 0;
};

static void walk_args(ondemand::object args, sums &s)
{
    for (auto member : args) {
        string_view key = member.unescaped_key();
        if (key != "correlation" && key != "External id") continue;
        int64_t id;
        if (!member.value().get(id)) s.ids += id;
    }
}

static void walk_event(ondemand::object event, sums &s)
{
    double dur = 0;
    bool device = false;
    for (auto member : event) {
        string_view key = member.unescaped_key(), text;
        double number;
        if (key == "ts") {
            if (!member.value().get(number)) s.all_us += number;
        } else if (key == "dur") {
            if (!member.value().get(number)) dur = number;
        } else if (key == "name" || key == "cat" || key == "ph") {
            if (member.value().get(text)) continue;
            s.text_bytes += text.size();
            if (key == "ph") s.metadata += text == "M";
            if (key == "cat") device = text == "kernel" || text == "gpu_memcpy" || text == "gpu_memset";
        } else if (key == "args") {
            ondemand::object args;
            if (!member.value().get(args)) walk_args(args, s);
        }
    }
    s.events++;
    if (device) s.device_us += dur;
}

int main(int argc, char **argv)
{
    if (argc != 2) return 2;
    padded_string text = padded_string::load(argv[1]);
    auto begin = std::chrono::steady_clock::now();
    ondemand::parser parser;
    ondemand::document doc = parser.iterate(text);
    sums s;
    for (auto event : doc["traceEvents"].get_array()) walk_event(event.get_object(), s);
    std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    printf("{\"seconds\": %.6f, \"events\": %zu, \"device_us\": %.3f, \"check\": %zu}\n", seconds.count(),
           s.events - s.metadata, s.device_us, s.text_bytes + (size_t)s.ids + (size_t)s.all_us);
}
