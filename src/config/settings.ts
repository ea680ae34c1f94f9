import type { ConfigSettings } from './config.ts'
import { formatDuration } from './duration.ts'

export interface SettingsProblem {
  /** The setting to change. */
  setting: keyof ConfigSettings
  message: string
  hint: string
}

/** Settings that are right one by one, and together could never end well. For the file, and again with flags on top. */
export function settingsProblems(settings: ConfigSettings): SettingsProblem[] {
  const { settleMs, drainDeadlineMs, readyForMs, readyDeadlineMs } = settings
  const problems: SettingsProblem[] = []
  if (settleMs !== undefined && settleMs >= drainDeadlineMs) {
    problems.push({
      setting: 'settleMs',
      message: `a settle time of ${formatDuration(settleMs)} is not shorter than the drain deadline, ${formatDuration(drainDeadlineMs)}`,
      hint: 'every drain would miss its deadline: make the drain deadline longer or the settle time shorter',
    })
  }
  if (readyForMs >= readyDeadlineMs) {
    problems.push({
      setting: 'readyForMs',
      message: `being ready for ${formatDuration(readyForMs)} is not shorter than the ready deadline, ${formatDuration(readyDeadlineMs)}`,
      hint: 'no pod could be ready for that long in time: make the ready deadline longer or the time of being ready shorter',
    })
  }
  return problems
}
