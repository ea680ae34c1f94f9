import type { ConfigSettings } from './config.ts'
import { formatDuration } from './duration.ts'

export interface SettingsProblem {
  /** The setting to change. */
  setting: keyof ConfigSettings
  message: string
  hint: string
}

/** Conflicts between settings that are valid one by one. The check covers the file, and then the settings with the flags. */
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
