/** Reads `show stat` (CSV) and `show info`. */

/** Requests or connections under way or queued, by name of the backend's server; one that is missing is not known. */
export function parseInFlight(csv: string, backend: string): Map<string, number> {
  const [header = [], ...rows] = parseCsv(csv.replace(/^# /, ''))
  const proxy = header.indexOf('pxname')
  const name = header.indexOf('svname')
  const columns = [header.indexOf('scur'), header.indexOf('qcur')]
  if (proxy === -1 || name === -1 || columns.includes(-1)) return new Map()
  const inFlight = new Map<string, number>()
  for (const row of rows) {
    const counts = columns.map((column) => row[column] ?? '')
    // A cell that is no number means "not known", which must not become 0.
    if (row[proxy] !== backend || row[name] === undefined || !counts.every((count) => /^\d+$/.test(count))) continue
    inFlight.set(
      row[name],
      counts.reduce((sum, count) => sum + Number(count), 0),
    )
  }
  return inFlight
}

/** CSV with quoted cells: the text of a health check, which the server chooses, may hold commas, quotes and line ends. */
export function parseCsv(text: string): string[][] {
  const cell = /(?:"((?:[^"]|"")*)"|([^",\n]*))(,|\n|$)/y
  const rows: string[][] = []
  let row: string[] = []
  while (cell.lastIndex < text.length) {
    const match = cell.exec(text)
    if (match === null) break
    const [, quoted, plain = '', end] = match
    row.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'))
    if (end === ',' && cell.lastIndex < text.length) continue
    rows.push(row)
    row = []
  }
  return rows
}

export interface ProcessInfo {
  /** Another one after every restart and reload. */
  epoch: string
  /** A reload has replaced this worker: what it is told changes nothing for new traffic. */
  isStopping: boolean
}

export function parseInfo(text: string): ProcessInfo | undefined {
  const value = (key: string): string | undefined => new RegExp(`^${key}: (.*)$`, 'm').exec(text)?.[1]
  const pid = value('Pid')
  if (pid === undefined) return undefined
  // Process ids alone repeat: in a container the worker often gets the same one again.
  return { epoch: `${pid}@${value('Start_time_sec') ?? ''}`, isStopping: value('Stopping') === '1' }
}
