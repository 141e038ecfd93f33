/**
 * Whether a test file goes to the server that the run is given, or to one of the same major, by its
 * text. The harness itself is tried on the project's own version, whatever is given.
 */
export function goesToGivenServer(text: string): boolean {
  return (
    /\b(testDatabase|startOwnServer)\(/.test(text) && !/\bstart(EmbeddedServer|Owner)\b/.test(text)
  )
}
