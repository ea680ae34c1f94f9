import stringWidth from 'string-width'
import { pad, truncate, wrap } from './columns.ts'

/** The cells of one working pod in the live table. */
export interface PodCells {
  pod: string
  state: string
  elapsed: string
  detail: string
}

const HEAD: PodCells = { pod: 'POD', state: 'STATE', elapsed: 'FOR', detail: 'DETAIL' }
const GAP = '  '
/** With fewer columns beside the other cells, the detail moves below them. */
const NARROWEST_DETAIL = 24

/**
 * Returns the head of the table, and as many pods as fit. The detail of a pod is the cause that an operator looks for, so it is wrapped
 * and not cut, except where one pod alone needs more lines than the terminal has.
 */
export function podRows(pods: readonly PodCells[], room: { columns: number; lines: number }): { lines: string[]; shown: number } {
  if (pods.length === 0) return { lines: [], shown: 0 }
  const candidates = pods.slice(0, room.lines)
  const before = cellsBefore([HEAD, ...candidates])
  const isBeside = room.columns - stringWidth(before(HEAD)) >= NARROWEST_DETAIL
  const indent = isBeside ? ' '.repeat(stringWidth(before(HEAD))) : GAP.repeat(2)
  const lines = [before(HEAD) + (isBeside ? HEAD.detail : '')]
  let shown = 0
  for (const pod of candidates) {
    const detail = wrap(pod.detail, room.columns - indent.length).map((line) => indent + line)
    const row = isBeside ? [before(pod) + detail[0]!.slice(indent.length), ...detail.slice(1)] : [before(pod), ...detail]
    if (shown > 0 && lines.length - 1 + row.length > room.lines) break
    lines.push(...row)
    shown++
  }
  return { lines: lines.slice(0, 1 + room.lines).map((line) => truncate(line.trimEnd(), room.columns)), shown }
}

/** Returns every cell except the detail, aligned with the other rows. */
function cellsBefore(rows: readonly PodCells[]): (row: PodCells) => string {
  const cells = ({ pod, state, elapsed }: PodCells): string[] => [pod, state, elapsed]
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => stringWidth(cells(row)[column]!))))
  return (row) =>
    GAP +
    cells(row)
      .map((cell, column) => pad(cell, widths[column]!) + GAP)
      .join('')
}
