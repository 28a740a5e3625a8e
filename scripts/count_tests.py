"""count_tests.py CTEST.xml RESULTS: prints "PASSED FAILED".

Each executable that CTest ran counts as the tests of its GoogleTest report RESULTS/NAME.json. One that left no report
(not a GoogleTest, or it crashed) counts as one test; one that fails although its tests passed adds one failure.
"""
import json
import pathlib
import sys
import xml.etree.ElementTree as xml

passed = failed = 0
for case in xml.parse(sys.argv[1]).iter("testcase"):
    report = pathlib.Path(sys.argv[2], case.get("name") + ".json")
    ok = case.get("status") == "run"
    if not report.exists():
        passed, failed = passed + ok, failed + (not ok)
        continue
    suites = json.loads(report.read_text())["testsuites"]
    tests = [test for suite in suites for test in suite["testsuite"] if test.get("result") == "COMPLETED"]
    failures = sum("failures" in test for test in tests)
    passed += len(tests) - failures
    failed += failures if ok else max(failures, 1)
print(passed, failed)
