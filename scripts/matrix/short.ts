/**
 * Whether a test file goes to the server that the run is given, by its text. One that starts a server
 * of its own gets the project's own version, whatever is given.
 */
export function goesToGivenServer(text: string): boolean {
  return /\btestDatabase\(\)/.test(text) && !/\bstart(EmbeddedServer|Owner)\b/.test(text)
}
