export interface Row {
  way: string
  /** The number of failed requests over all rounds. The other values are medians. */
  failed: number
  drains: number
  restores: number
  seconds: number
  /** The time that the pods themselves needed, in seconds. */
  own: number
  ratio: number
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

export function printTable(rows: readonly Row[], rounds: number): void {
  const cells = [
    ['way', 'failed requests', 'drains/restores', 'seconds', "the pods' own", 'ratio'],
    ...rows.map(({ way, failed, drains, restores, seconds, own, ratio }) => [
      way,
      `${failed}`,
      `${drains}/${restores}`,
      seconds.toFixed(2),
      own.toFixed(2),
      ratio.toFixed(3),
    ]),
  ]
  const widths = cells[0]!.map((_, column) => Math.max(...cells.map((row) => row[column]!.length)))
  for (const row of cells) {
    console.log(row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!))).join('  '))
  }
  console.log(`Medians of ${rounds} rounds; failed requests are those of all rounds together.`)
}
