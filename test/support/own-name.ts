// Loaded into every process of a test. Node runs the sources as they are, and only leaves their types out;
// what it does not know is tsconfig's `paths`, and `oncely` would be a build of any age.
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
