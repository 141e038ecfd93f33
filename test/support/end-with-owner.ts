// Loaded into the test runner, whose standard input `scripts/test.ts` holds: when that is gone, for
// whatever reason, so is its server, and what is left of the run would only fail.
const isTestFile = 'NODE_TEST_CONTEXT' in process.env
if (!isTestFile) {
  process.stdin.on('end', () => process.kill(process.pid, 'SIGINT')).resume()
  // It must not keep the runner from ending either.
  ;(process.stdin as unknown as { unref(): void }).unref()
}
