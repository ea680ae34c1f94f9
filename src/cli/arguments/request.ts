import { parseMaxUnavailable } from '../../config/max-unavailable.ts'
import { isSameWorkload, type WorkloadId } from '../../pods/workload-id.ts'
import type { RunRequest, RunSettings } from '../../engine/run.ts'
import type { ContainerImage } from '../../pods/glossary.ts'
import { durationFlag } from './duration-flag.ts'
import type { ClusterFlags, RequestFlags } from './flags.ts'
import { parseImageArgument } from './image-arguments.ts'
import { selectorProblem } from '../../library/request/selector-problem.ts'
import { quote } from '../../library/request/quote.ts'
import { parseRequestTimeout } from './request-timeout.ts'
import { parseRef } from '../../library/request/selection.ts'
import { UsageError } from './usage-error.ts'

/** The commands that take workloads as arguments. */
export type RequestVerb = 'upgrade' | 'plan' | 'undo' | 'pause' | 'resume' | 'abort'

const OPEN_RUN = 'it is about the run that is open'
/** The reason why a command takes no image. */
const TAKES_NO_IMAGE: Partial<Record<RequestVerb, string>> = {
  undo: 'it goes back to the images on record',
  pause: OPEN_RUN,
  resume: OPEN_RUN,
  abort: OPEN_RUN,
}

/** The parsed command line of these commands. The namespace and missing settings come from elsewhere. */
export interface ParsedRequest {
  select: RunRequest['select']
  images: ContainerImage[]
  /** The settings that flags replace. */
  overrides: Partial<RunSettings>
  acceptTemplateDrift: boolean
  allowUnbalanced: boolean
  retiredLoadBalancers: string[]
  /** Absent means the default of the client. */
  requestTimeoutMs?: number
  graceMs: number
  exitWhenPaused: boolean
  /** Present for an undo. The undo takes an earlier run back, in place of `images`. */
  undo?: { run?: string }
}

type Flags = RequestFlags & Pick<ClusterFlags, 'requestTimeout'> & { grace?: string; exitWhenPaused?: boolean }

/** Throws a UsageError with all mistakes. */
export function parseRequest(args: readonly string[], flags: Flags, verb: RequestVerb = 'upgrade'): ParsedRequest {
  const problems: string[] = []
  const { refs, images } = parseArguments(args, verb, problems)
  const select = parseSelection(refs, flags.selector, verb, problems)
  const overrides = parseOverrides(flags, problems)
  const graceMs = flags.grace === undefined ? 0 : durationFlag('--grace', flags.grace, 0, problems)
  const requestTimeoutMs = parseRequestTimeout(flags.requestTimeout, problems)
  if (problems.length > 0) throw new UsageError(problems)
  return {
    select,
    images,
    overrides,
    acceptTemplateDrift: flags.acceptTemplateDrift ?? false,
    allowUnbalanced: flags.allowUnbalanced ?? false,
    retiredLoadBalancers: flags.retiredLoadBalancer ?? [],
    ...(requestTimeoutMs === undefined ? {} : { requestTimeoutMs }),
    graceMs,
    exitWhenPaused: flags.exitWhenPaused ?? false,
  }
}

function parseArguments(
  args: readonly string[],
  verb: RequestVerb,
  problems: string[],
): { refs: WorkloadId[]; images: ContainerImage[] } {
  const noImage = TAKES_NO_IMAGE[verb]
  const refs: WorkloadId[] = []
  const images: ContainerImage[] = []
  for (const argument of args) {
    // No object name and no kind contains "=", and no container name contains "/".
    if (argument.includes('=') && noImage !== undefined) problems.push(`${quote(argument)}: ${verb} takes no image: ${noImage}`)
    else if (argument.includes('=')) {
      const parsed = parseImageArgument(argument)
      if (!parsed.ok) problems.push(parsed.problem)
      else if (images.some(({ container }) => container === parsed.image.container)) {
        problems.push(`${quote(argument)}: container ${parsed.image.container} is given twice`)
      } else images.push(parsed.image)
    } else {
      const parsed = parseRef(argument, { orImage: noImage === undefined })
      if (!parsed.ok) problems.push(parsed.problem)
      else if (!refs.some((ref) => isSameWorkload(ref, parsed.ref))) refs.push(parsed.ref)
    }
  }
  return { refs, images }
}

function parseSelection(
  refs: WorkloadId[],
  selector: string | undefined,
  verb: RequestVerb,
  problems: string[],
): RunRequest['select'] {
  if (selector === undefined) {
    // An invalid name is reported already.
    if (refs.length === 0 && problems.length === 0)
      problems.push(`what to ${verb} is missing: name TYPE/NAME, or pods with -l SELECTOR`)
    return { refs }
  }
  if (refs.length > 0) problems.push('names and -l exclude each other: give one of them')
  if (selector.trim() === '') problems.push('-l: an empty selector would mean every pod in the namespace')
  else {
    const problem = selectorProblem(selector)
    if (problem !== undefined) problems.push(`-l: ${problem}`)
  }
  return { labelSelector: selector }
}

function parseOverrides(flags: RequestFlags, problems: string[]): Partial<RunSettings> {
  const overrides: Partial<RunSettings> = {}
  if (flags.maxUnavailable !== undefined) {
    const parsed = parseMaxUnavailable(flags.maxUnavailable)
    if (parsed.ok) overrides.maxUnavailable = parsed.value
    else problems.push(`--max-unavailable: ${parsed.reason}: ${parsed.hint}`)
  }
  if (flags.onFailure !== undefined) overrides.onFailure = flags.onFailure
  if (flags.onDrainDeadline !== undefined) overrides.onDrainDeadline = flags.onDrainDeadline
  const durations = [
    ['readyForMs', '--ready-for', flags.readyFor, 0],
    ['drainDeadlineMs', '--drain-deadline', flags.drainDeadline, 1],
    ['restartDeadlineMs', '--restart-deadline', flags.restartDeadline, 1],
    ['rollbackDeadlineMs', '--rollback-deadline', flags.rollbackDeadline, 1],
    ['readyDeadlineMs', '--ready-deadline', flags.readyDeadline, 1],
    ['restoreDeadlineMs', '--restore-deadline', flags.restoreDeadline, 1],
  ] as const
  for (const [setting, flag, text, atLeastMs] of durations) {
    if (text !== undefined) overrides[setting] = durationFlag(flag, text, atLeastMs, problems)
  }
  return overrides
}
