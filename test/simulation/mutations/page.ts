import type { Mutation } from './mutation.ts'
import type { Recorded } from './recorded.ts'

const BEGIN = '<!-- written by npm run mutations -->'
const END = '<!-- end of the table -->'

/** Returns the table of the mutations in docs/simulation.md. */
export function mutationsTable(mutations: readonly Mutation[], recorded: Recorded): string {
  const rows = mutations.map(({ name, breaks }) => {
    const found = recorded[name]
    return `| \`${name}\` | ${breaks} | ${found?.seed ?? 'not yet'} | ${found?.invariant ?? ''} |`
  })
  return ['| mutation | what is broken | found within | by |', '|---|---|---|---|', ...rows].join('\n')
}

/** Returns the text of docs/simulation.md with this table. */
export function withTable(page: string, table: string): string {
  const begin = page.indexOf(BEGIN)
  const end = page.indexOf(END)
  if (begin < 0 || end < begin) throw new Error(`docs/simulation.md lacks the lines "${BEGIN}" and "${END}"`)
  return `${page.slice(0, begin + BEGIN.length)}\n${table}\n${page.slice(end)}`
}
