/** Parses `show stat` (CSV) and `show info`. */

/** The requests or connections in progress or in the queue at one server of the backend. */
export interface ServerCount {
  name: string
  /** The address as `show stat` writes it, `10.0.0.1:80` or `[fd00::1]:80`. Empty if HAProxy does not show it. */
  address: string
  inFlight: number
  /** The number of sessions since the worker started. */
  sessions?: number
  /** The seconds since the last session began and since the state last changed, rounded, on one clock. */
  lastSession?: number
  lastChange?: number
}

/** The counts by the name of the server. The count of a missing server is unknown. */
export function parseInFlight(csv: string, backend: string): Map<string, ServerCount> {
  return new Map(parseCounts(csv, backend).map((count) => [count.name, count]))
}

export function parseCounts(csv: string, backend: string): ServerCount[] {
  const [header = [], ...rows] = parseCsv(csv.replace(/^# /, ''))
  const proxy = header.indexOf('pxname')
  const name = header.indexOf('svname')
  const address = header.indexOf('addr')
  const columns = [header.indexOf('scur'), header.indexOf('qcur')]
  const more = { sessions: 'stot', lastSession: 'lastsess', lastChange: 'lastchg' }
  const others = Object.entries(more).map(([key, column]) => [key, header.indexOf(column)] as const)
  if (proxy === -1 || name === -1 || columns.includes(-1)) return []
  return rows.flatMap((row) => {
    const counts = columns.map((column) => row[column] ?? '')
    // A cell that is not a number means "unknown", which must not become 0.
    if (row[proxy] !== backend || row[name] === undefined || !counts.every((count) => /^\d+$/.test(count))) return []
    const inFlight = counts.reduce((sum, count) => sum + Number(count), 0)
    // The value -1 means that there was no session.
    const known = others.flatMap(([key, column]) =>
      /^\d+$/.test(row[column] ?? '') ? [[key, Number(row[column])] as const] : [],
    )
    return [{ name: row[name], address: row[address] ?? '', inFlight, ...Object.fromEntries(known) }]
  })
}

/** Parses CSV with quoted cells. The text of a health check may contain commas, quotes and line ends, because the server chooses it. */
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
  /** An id that changes with every restart and reload. */
  epoch: string
  /** True if a reload has replaced this worker. A change then has no effect on new traffic. */
  isStopping: boolean
}

export function parseInfo(text: string): ProcessInfo | undefined {
  const value = (key: string): string | undefined => new RegExp(`^${key}: (.*)$`, 'm').exec(text)?.[1]
  const pid = value('Pid')
  if (pid === undefined) return undefined
  // The process id alone may repeat: in a container, the worker often gets the same one again.
  return { epoch: `${pid}@${value('Start_time_sec') ?? ''}`, isStopping: value('Stopping') === '1' }
}
