/** What Node is given to run a file of this project in a process that a test starts. */
export const fromSources: readonly string[] = ['--import', import.meta.resolve('./own-name.ts')]
