import { and, not, or } from 'xstate'
import { podSetup } from './setup.ts'
import { writing } from './writing.ts'

type Always = NonNullable<Parameters<typeof podSetup.createStateConfig>[0]['always']>
type Choices = Extract<Always, readonly unknown[]>

const MEANWHILE = [
  {
    guard: 'isUsurped',
    target: '#pod.stopped',
    actions: { type: 'overrule', params: { outcome: 'conflict', reason: 'journalUsurped' } },
  },
  { guard: 'isVanished', target: '#pod.settling' },
] as const

/** The images that were sent and not answered are to be got out of the way before anything else is done. */
export const IN_DOUBT = { guard: 'isInDoubt', target: 'fencing' } as const

/** … at once, where the pod is seen to get requests. */
export const RETURNED = {
  reloaded: [
    { guard: and(['isInDoubt', not('isVanished')]), target: '.fencing', actions: 'noteReturn' },
    { actions: 'noteReturn' },
  ],
} as const

/**
 * The write of images. One that nobody has answered may land at any time, which is harmless while the pod is out: it is read back, and
 * made again. But a load balancer may forget to keep the pod out, and nothing is written where it is drained again. So before the pod is
 * drained again or put back, or is given up, the record is written anew over what the images are guarded by: they have landed before
 * that, or never do. Found by simulation (seed 60969043): they landed under requests, more than a second after these had been seen.
 *
 * The same where somebody has removed the record: images that are sent over none could be kept out by nothing.
 * @param found where it goes once its images are found to have landed
 * @param late where it ends past the deadline
 * @param givenUp … or without any images in doubt
 */
export function fencing(
  state: 'patching' | 'rollingBack',
  recording: 'recordPatched' | 'recordRollback',
  { found, late, givenUp }: { found: Choices; late: Choices[number]; givenUp: Choices },
) {
  const write = writing(recording, 'patched', 'confirming')
  // Interrupted, what was not patched is put back. What is rolled back goes on.
  const isRefused = or(['isOverdue', 'isRejectedForGood'])
  const isToEnd = state === 'patching' ? or([isRefused, 'isInterrupted']) : isRefused
  const known = [...MEANWHILE, ...found] as const
  const ways = [...known, { guard: 'isFenced', target: `#pod.${state}.deciding`, actions: 'forgetDoubt' }] as const
  return {
    ...write,
    writing: podSetup.createStateConfig({
      ...write.writing,
      on: {
        reloaded: [
          { guard: not('isVanished'), target: 'fencing', actions: ['noteReturn', 'noteDoubt'] },
          { actions: 'noteReturn' },
        ],
      },
    }),
    written: podSetup.createStateConfig({
      always: [
        { guard: 'isStored', target: 'patched' },
        { guard: 'isUnknown', target: 'rereading', actions: ['countLateTry', 'noteDoubt'] },
        { target: 'rereading', actions: 'countLateTry' },
      ],
    }),
    deciding: podSetup.createStateConfig({
      always: [...known, { guard: and(['isInDoubt', isToEnd]), target: 'fencing' }, late, ...givenUp, { target: 'pausing' }],
    }),
    fencing: podSetup.createStateConfig({
      initial: 'ready',
      // Where they have landed, the call that is under way comes to nothing.
      always: found,
      states: {
        ready: { always: [...ways, { target: 'writing' }] },
        ...writing('fence', 'deciding', 'ready'),
        // Found by a reviewer: where it was removed as soon as it was stored, that was without end.
        written: {
          always: [
            { guard: 'isStored', target: 'deciding', actions: 'countLateTry' },
            { target: 'rereading', actions: 'countLateTry' },
          ],
        },
        deciding: {
          always: [
            ...ways,
            late,
            // Nothing is to be kept out.
            { guard: and([not('isInDoubt'), 'isInterrupted']), target: `#pod.${state}.deciding` },
            { target: 'pausing' },
          ],
        },
      },
    }),
  }
}
