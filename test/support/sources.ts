/** What Node is given to run a file of this project, in a process of its own, as a test is run. */
export const fromSources: readonly string[] = ['--import', import.meta.resolve('./own-name.ts')]
