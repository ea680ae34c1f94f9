import { z } from 'zod'
import type { MaxUnavailable } from '../../config/max-unavailable.ts'
import { MAX_UNAVAILABLE_HINT, parseMaxUnavailable } from '../../config/max-unavailable.ts'
import { settingsProblems } from '../../config/settings.ts'
import { PROGRAM } from '../../config/wording.ts'
import type { RunRequest, RunSettings } from '../../engine/run.ts'
import type { ContainerImage } from '../../pods/glossary.ts'
import { containerProblem, imageProblem } from './container-image.ts'
import { type Choice, choiceFields, choiceOf, type OfCluster } from './parse-choice.ts'
import { duration } from './duration.ts'
import { parsed } from './parsed.ts'
import type { RequestIssue } from './request-error.ts'
import type { AbortRequest, HomeSettings, RequestSettings, UpgradeRequest } from './upgrade-request.ts'

/** The defaults of a request: the values of its cluster, and the settings of the config. */
export interface RequestDefaults extends OfCluster {
  settings: RunSettings
}

const count = z.int().min(1)

const Settings = z.strictObject({
  maxUnavailable: z
    .union([z.number(), z.string(), z.strictObject({ count }), z.strictObject({ percent: count.max(100) })], {
      error: ({ input }) => `${PROGRAM.show(input)} is neither a number of pods nor a share of them\n${MAX_UNAVAILABLE_HINT}`,
    })
    .optional(),
  readyForMs: duration(0).optional(),
  onFailure: z.enum(['hold', 'rollback']).optional(),
  drainDeadlineMs: duration(1).optional(),
  onDrainDeadline: z.enum(['fail', 'proceed']).optional(),
  settleMs: duration(0).optional(),
  drainNotFor: z.array(z.string().min(1)).optional(),
  restartDeadlineMs: duration(1).optional(),
  rollbackDeadlineMs: duration(1).optional(),
  readyDeadlineMs: duration(1).optional(),
  restoreDeadlineMs: duration(1).optional(),
} satisfies Record<keyof RunSettings, z.ZodType>)

const Upgrade = z.strictObject({
  ...choiceFields,
  images: z.record(z.string(), z.string()).optional(),
  undo: z.strictObject({ run: z.string().min(1).optional() }).optional(),
  settings: Settings.optional(),
  acceptTemplateDrift: z.boolean().optional(),
  allowUnbalanced: z.boolean().optional(),
  retiredLoadBalancers: z.array(z.string()).optional(),
  endWhenPaused: z.boolean().optional(),
} satisfies Record<keyof UpgradeRequest, z.ZodType>)

const HOME = { restartDeadlineMs: true, rollbackDeadlineMs: true, readyDeadlineMs: true, restoreDeadlineMs: true } as const

const Abort = z.strictObject({
  ...choiceFields,
  settings: Settings.pick(HOME satisfies Record<keyof HomeSettings, true>).optional(),
} satisfies Record<keyof AbortRequest, z.ZodType>)

/** Throws a RequestError that lists every problem. */
export function parseAbort(input: AbortRequest, cluster: OfCluster): Choice {
  return parsed(Abort, input, (issues) => choiceOf(input, cluster, issues))
}

/** The settings of an abort that this process carries out. Throws a RequestError if they conflict with the settings of the config. */
export function abortSettings(input: AbortRequest, configured: RunSettings): RunSettings {
  return parsed(Abort, input, (issues) => settingsOf(input, configured, issues))
}

/** Throws a RequestError that lists every problem, including conflicts with the settings of the config. */
export function parseUpgrade(input: UpgradeRequest, defaults: RequestDefaults): RunRequest {
  return parsed(Upgrade, input, (issues) => {
    const { undo, retiredLoadBalancers = [], acceptTemplateDrift = false, allowUnbalanced = false, endWhenPaused = false } = input
    const images = imagesOf(input.images, issues)
    if (undo !== undefined && images.length > 0)
      issues.push({ field: 'images', message: 'an undo takes none', hint: 'it goes back to the images on record' })
    return {
      ...choiceOf(input, defaults, issues),
      images,
      settings: settingsOf(input, defaults.settings, issues),
      acceptTemplateDrift,
      allowUnbalanced,
      retiredLoadBalancers,
      exitWhenPaused: endWhenPaused,
      ...(undo === undefined ? {} : { undo: { ...undo } }),
    }
  })
}

function imagesOf(images: UpgradeRequest['images'], issues: RequestIssue[]): ContainerImage[] {
  return Object.entries(images ?? {}).map(([container, image]) => {
    const problem = containerProblem(container) ?? imageProblem(image)
    if (problem !== undefined) issues.push({ field: `images.${container}`, message: problem })
    return { container, image }
  })
}

function settingsOf(
  { settings: asked = {}, undo }: Pick<UpgradeRequest, 'settings' | 'undo'>,
  configured: RunSettings,
  issues: RequestIssue[],
): RunSettings {
  const { maxUnavailable: window, ...others } = asked
  const maxUnavailable = window === undefined ? configured.maxUnavailable : windowOf(window, issues)
  const settings: RunSettings = { ...configured, ...defined(others), maxUnavailable }
  // Rolling back an undo would install the images that the undo is removing.
  if (undo !== undefined) settings.onFailure = 'hold'
  for (const { setting, message, hint } of settingsProblems(settings))
    issues.push({ field: `settings.${setting}`, message, hint })
  return settings
}

function windowOf(asked: NonNullable<RequestSettings['maxUnavailable']>, issues: RequestIssue[]): MaxUnavailable {
  if (typeof asked === 'object') return asked
  const read = parseMaxUnavailable(asked)
  if (read.ok) return read.value
  issues.push({ field: 'settings.maxUnavailable', message: read.reason, hint: read.hint })
  return { count: 1 }
}

/** The settings without those whose value is undefined. */
function defined(settings: Omit<RequestSettings, 'maxUnavailable'>): Omit<Partial<RunSettings>, 'maxUnavailable'> {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined))
}
