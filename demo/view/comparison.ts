import type { ActResult } from '../acts/result.ts'
import { drainsAndRestores, flips } from '../rotation/change.ts'

/** Returns a table with a line for each act. Numbers are right-aligned for comparison. */
export function comparison(results: readonly ActResult[]): string[] {
  const pods = results[0]?.pods ?? []
  const rows = [
    ['', 'failed requests', ...pods, 'flips', 'seconds'],
    ...results.map(({ name, requests, failures, changes, startedAt, homeAt }, index) => {
      const counts = pods.map((pod) => drainsAndRestores(changes, pod))
      return [
        `${index + 1}  ${name}`,
        `${failures.length.toLocaleString('en')} of ${requests.toLocaleString('en')}`,
        ...counts.map(({ drains, restores }) => `${drains}/${restores}`),
        `${counts.reduce((sum, each) => sum + flips(each), 0)}`,
        ((homeAt - startedAt) / 1_000).toFixed(1),
      ]
    }),
  ]
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
  return rows.map((row) =>
    row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!))).join('   '),
  )
}
