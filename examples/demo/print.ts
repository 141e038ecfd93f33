import { styleText } from 'node:util'

type Style = Parameters<typeof styleText>[0]

/** Colours only where somebody sees them; `styleText` also heeds NO_COLOR. */
function styled(style: Style, text: string): string {
  return styleText(style, text, { stream: process.stdout })
}

/** What one side did or saw. */
export function say(side: string, text: string): void {
  console.log(`  ${styled('dim', side.padEnd(9))} ${text}`)
}

export function title(text: string): void {
  console.log(`\n${styled('bold', text)}`)
}

export function verdict(passed: boolean, reason = ''): void {
  const word = passed ? styled('green', 'PASS') : styled('red', 'FAIL')
  console.log(`  ${word}${reason && ` ${reason}`}`)
}
