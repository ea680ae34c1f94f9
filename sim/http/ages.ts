const SECOND = 1
const MINUTE = 60
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** Formats the time since a timestamp as the columns of kubectl do. An invalid timestamp gives `<unknown>`. */
export function since(timestamp: string, wallNow: number): string {
  const then = Date.parse(timestamp)
  return Number.isNaN(then) ? '<unknown>' : lengthOf(Math.max(0, Math.floor((wallNow - then) / 1_000)))
}

/** Formats a duration in about two digits: `95s`, `4m5s`, `25m`, `5h10m`, `30h`, `3d4h`, `12d`. */
function lengthOf(seconds: number): string {
  if (seconds < 2 * MINUTE) return `${seconds}s`
  if (seconds < 10 * MINUTE) return two(seconds, MINUTE, 'm', SECOND, 's')
  if (seconds < 3 * HOUR) return `${Math.floor(seconds / MINUTE)}m`
  if (seconds < 8 * HOUR) return two(seconds, HOUR, 'h', MINUTE, 'm')
  if (seconds < 2 * DAY) return `${Math.floor(seconds / HOUR)}h`
  if (seconds < 8 * DAY) return two(seconds, DAY, 'd', HOUR, 'h')
  return `${Math.floor(seconds / DAY)}d`
}

function two(seconds: number, large: number, largeUnit: string, small: number, smallUnit: string): string {
  const rest = Math.floor((seconds % large) / small)
  return `${Math.floor(seconds / large)}${largeUnit}${rest === 0 ? '' : `${rest}${smallUnit}`}`
}
