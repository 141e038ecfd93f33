import { describeSentences } from './numbered-sentences.ts'

describeSentences('choosing.md', {
  files: (file) => !file.startsWith('client'),
  from: '## Which when',
})
