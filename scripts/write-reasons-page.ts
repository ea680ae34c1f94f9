// Writes docs/reasons.md: every reason, piece of advice and command, by area, as src/reasons declares them.
//   node scripts/write-reasons-page.ts
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '..')
const SOURCES = join(root, 'src/reasons')
export const REASONS_PAGE = join(root, 'docs/reasons.md')

const AREAS: [title: string, file: string][] = [
  ['Ends of pods', 'pod-endings'],
  ['What a pod waits for', 'pod-waits'],
  ['How a pod stands', 'pod-facts'],
  ['Load balancers and their entries', 'traffic-reasons'],
  ['The window', 'window-reasons'],
  ['Runs', 'run-reasons'],
  ['Plans', 'plan-reasons'],
  ['Refusals', 'refusals'],
  ['Templates', 'template-reasons'],
  ['Records', 'record-reasons'],
  ['Pause, resume and abort', 'order-reasons'],
  ['Resolve', 'resolve-reasons'],
  ['Undo', 'undo-reasons'],
  ['Cleanup', 'cleanup-reasons'],
  ['What a report cannot know', 'missing-reasons'],
  ['Endpoints of Services', 'endpoint-reasons'],
  ['Explain', 'explain-reasons'],
  ['Words of others', 'error-reasons'],
  ['Advice', 'advice'],
  ['Commands', 'command'],
  ['Fields that several have', 'fields'],
]
/** These files declare no codes. */
const OTHERS = ['reason', 'several']

const HEAD = `# Reasons

Events, reports, plans and records carry reasons as data: a \`code\` with typed fields. In JSON, each reason also has a \`message\`, and
each command a \`shell\` form. Both are English for people, and may change at any time: programs read the code and the fields. A later
version may add codes and fields, so a program treats an unknown code as "another reason".

\`NAME: { … }\` is the reason with the code NAME and these fields. A field of type \`Reason\` holds any reason of this page. A reason with
\`NoFields\` has its code alone. A reason from a record may have \`more\`: the number of entries that were cut from its lists.
[json.md](json.md) has the documents that carry reasons.

The declarations are copied from the source by \`node scripts/write-reasons-page.ts\`.
`

/** Returns the up-to-date page. */
export function currentReasonsPage(): string {
  const files = readdirSync(SOURCES).map((file) => file.replace(/\.ts$/, ''))
  const known = [...OTHERS, ...AREAS.map(([, file]) => file)]
  if (files.toSorted().join() !== known.toSorted().join())
    throw new Error(`scripts/write-reasons-page.ts knows ${known.join(', ')}; in src/reasons are ${files.join(', ')}`)
  const sections = AREAS.map(([title, file]) => `## ${title}\n\n\`\`\`ts\n${declarations(file)}\n\`\`\`\n`)
  return [HEAD, ...sections].join('\n')
}

/** Returns the content of a file, without its imports. */
function declarations(file: string): string {
  return readFileSync(join(SOURCES, `${file}.ts`), 'utf8')
    .replace(/^import .*\n/gm, '')
    .replace(/^export /gm, '')
    .trim()
}

if (process.argv[1] === join(import.meta.dirname, 'write-reasons-page.ts')) {
  writeFileSync(REASONS_PAGE, currentReasonsPage())
  console.log('docs/reasons.md is written')
}
