window.BENCHMARK_DATA = {
  "lastUpdate": 1767225600000,
  "repoUrl": "https://example.org/fib",
  "entries": {
    "Go": [
      {
        "commit": {"id": "a1", "message": "One {brace", "timestamp": "2026-01-01T00:00:00Z"},
        "date": 1767225600000,
        "tool": "go",
        "benches": [{"name": "fib", "value": 12.5, "unit": "ns/op"}]
      },
      {
        "commit": {"id": "a2", "message": "Two", "timestamp": "2026-01-02T00:00:00Z"},
        "date": 1767312000000,
        "tool": "go",
        "benches": [{"name": "fib", "value": 11.5, "unit": "ns/op"}]
      }
    ]
  }
}
