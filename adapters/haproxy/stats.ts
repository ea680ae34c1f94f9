/** Reads `show stat` (CSV) and `show info`. */

/** Requests or connections under way or queued at one server of the backend. */
export interface ServerCount {
  name: string
  /** As `show stat` writes it, `10.0.0.1:80` or `[fd00::1]:80`; empty where HAProxy does not tell. */
  address: string
  inFlight: number
  /** All that began since the worker started. */
  sessions?: number
  /** Seconds ago, in whole ones of one clock: when its last session began, and when its state last changed. */
  lastSession?: number
  lastChange?: number
}

/** By name of the backend's server; one that is missing is not known. */
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
    // A cell that is no number means "not known", which must not become 0.
    if (row[proxy] !== backend || row[name] === undefined || !counts.every((count) => /^\d+$/.test(count))) return []
    const inFlight = counts.reduce((sum, count) => sum + Number(count), 0)
    // A last session at -1 is none ever.
    const known = others.flatMap(([key, column]) =>
      /^\d+$/.test(row[column] ?? '') ? [[key, Number(row[column])] as const] : [],
    )
    return [{ name: row[name], address: row[address] ?? '', inFlight, ...Object.fromEntries(known) }]
  })
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
