import type { ConfigSettings } from '../../config/config.ts'
import { settingsProblems } from '../../config/settings.ts'
import type { RunRequest } from '../../engine/run.ts'
import type { ParsedRequest } from '../arguments/request.ts'
import { UsageError } from '../arguments/usage-error.ts'

/** What the command line asks for, on top of what the config says. Throws a UsageError where the two cannot go together. */
export function runRequest(parsed: ParsedRequest, namespace: string, configured: ConfigSettings): RunRequest {
  const settings: ConfigSettings = { ...configured, ...parsed.overrides }
  // To go back from going back would be to put in what is being taken out.
  if (parsed.undo) settings.onFailure = 'hold'
  const problems = settingsProblems(settings)
  if (problems.length > 0)
    throw new UsageError(problems.map(({ message, hint }) => `flags and config together: ${message}: ${hint}`))
  return {
    namespace,
    select: parsed.select,
    images: parsed.images,
    settings,
    acceptTemplateDrift: parsed.acceptTemplateDrift,
    allowUnbalanced: parsed.allowUnbalanced,
    retiredLoadBalancers: parsed.retiredLoadBalancers,
    exitWhenPaused: parsed.exitWhenPaused,
    ...(parsed.undo ? { undo: parsed.undo } : {}),
  }
}
