// docs/seeded-bugs.md lists the bugs that there are, and the sources still have the places for them.
import { deepStrictEqual, notStrictEqual, ok } from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'

import { bugs } from '../seeded-bugs/bugs.ts'
import { root, seeded } from '../seeded-bugs/copy.ts'
import { rowsOf, rowsOnPage } from '../seeded-bugs/page.ts'
import { unknownNames } from '../seeded-bugs/unknown-names.ts'

describe('docs/seeded-bugs.md', () => {
  it('has every seeded bug, its proof and what that says', () => {
    ok(bugs.length >= 11)
    deepStrictEqual(rowsOnPage(), rowsOf(bugs))
  })
})

describe('a seeded bug', () => {
  for (const bug of bugs) {
    it(`changes what is there: ${bug.name}`, () => {
      for (const [file, text] of seeded(bug)) {
        notStrictEqual(text, readFileSync(join(root, file), 'utf8'))
      }
    })

    it(`names what is there: ${bug.name}`, () => {
      deepStrictEqual(unknownNames(bug), [])
    })
  }
})
