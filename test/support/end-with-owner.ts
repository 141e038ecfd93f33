// Loaded into every test file's process. `scripts/test.ts` holds the server; when that is gone, even
// by SIGKILL, what is left of the run would only fail, so it ends, and its runner with it.
const owner = Number(process.env['ONCELY_TEST_OWNER'])

function endWithOwner(): void {
  try {
    process.kill(owner, 0)
  } catch {
    // Whoever has lost its parent belongs to the first process of the system.
    if (process.ppid > 1) process.kill(process.ppid, 'SIGINT')
    process.exit(1)
  }
}

endWithOwner()
setInterval(endWithOwner, 1_000).unref()
