import { join } from 'node:path'

import ts from 'typescript'

import type { SeededBug } from './bug.ts'
import { root, seeded } from './copy.ts'

/** A name, an import or an exported member that is not there. Other errors of types can be the bug itself. */
const UNKNOWN = new Set([2304, 2305, 2307, 2552, 2724, 18004])

const { options } = ts.parseJsonConfigFileContent(
  ts.readConfigFile(join(root, 'tsconfig.json'), (file) => ts.sys.readFile(file)).config,
  ts.sys,
  root,
)
const sources = new Map<string, ts.SourceFile | undefined>()
let last: ts.Program | undefined

/** What a bug names that does not exist: its proof would be red for that alone, or not for the bug. */
export function unknownNames(bug: SeededBug): readonly string[] {
  const files = new Map([...seeded(bug)].map(([file, text]) => [join(root, file), text]))
  const host = ts.createCompilerHost(options)
  host.getSourceFile = (file, language) => {
    const text = files.get(file)
    if (text !== undefined) return ts.createSourceFile(file, text, language)
    if (!sources.has(file)) {
      const read = ts.sys.readFile(file)
      sources.set(file, read === undefined ? read : ts.createSourceFile(file, read, language))
    }
    return sources.get(file)
  }
  const program = ts.createProgram([...files.keys()], options, host, last)
  last = program
  return [...files.keys()]
    .flatMap((file) => program.getSemanticDiagnostics(program.getSourceFile(file)))
    .filter(({ code }) => UNKNOWN.has(code))
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))
}
