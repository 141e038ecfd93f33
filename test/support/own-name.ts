// Loaded into every process that a test starts, of which some are many. Node runs the sources as they are, at half
// of what tsx costs; what it does not know is tsconfig's `paths`, and `oncely` would be a build of any age.
import { registerHooks } from 'node:module'

registerHooks({
  resolve(specifier, context, nextResolve) {
    const [name, entry = 'index'] = /^oncely(?:\/([a-z]+))?$/.exec(specifier) ?? []
    return nextResolve(name ? urlOf(entry) : specifier, context)
  },
})

function urlOf(entry: string): string {
  return new URL(`../../src/${entry}.ts`, import.meta.url).href
}
