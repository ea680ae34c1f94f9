import picocolors from 'picocolors'
import type { ColorChoice } from '../arguments/flags.ts'

export type Colors = ReturnType<typeof picocolors.createColors>

/** Decides on colour in one place, since colour libraries put colour into pipes where CI=1. The flag wins, then NO_COLOR. */
export function useColor(choice: ColorChoice, env: NodeJS.ProcessEnv, isTerminal: boolean): boolean {
  if (choice !== 'auto') return choice === 'always'
  if (isSet(env['NO_COLOR'])) return false
  if (env['FORCE_COLOR'] !== undefined) return !['0', 'false'].includes(env['FORCE_COLOR'])
  return isTerminal && env['TERM'] !== 'dumb'
}

export function createColors(enabled: boolean): Colors {
  return picocolors.createColors(enabled)
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== ''
}
