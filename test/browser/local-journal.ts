// Runs in the browser: a journal that a reload of the page leaves alone.
import type { Journal, JournalEntry } from 'oncely/client'

const ENTRY = 'entry '
const CONTENT = 'content '

/** In `localStorage`, which is written when a call returns. */
export const localJournal = {
  begin(entry: JournalEntry) {
    localStorage.setItem(ENTRY + entry.key, JSON.stringify(entry))
  },
  end({ key }: JournalEntry) {
    localStorage.removeItem(ENTRY + key)
    localStorage.removeItem(CONTENT + key)
  },
  entries(): JournalEntry[] {
    return Object.keys(localStorage)
      .filter((name) => name.startsWith(ENTRY))
      .map((name) => JSON.parse(String(localStorage.getItem(name))) as JournalEntry)
  },
} satisfies Journal & { entries(): JournalEntry[] }

/** What is sent with a key, which no journal is told. */
export function keepContent(key: string, content: RequestInit): void {
  localStorage.setItem(CONTENT + key, JSON.stringify(content))
}

export function keptContents(key: string): RequestInit {
  return JSON.parse(String(localStorage.getItem(CONTENT + key))) as RequestInit
}
