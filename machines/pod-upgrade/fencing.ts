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

/** Images without an answer must be kept out before any other step. */
export const IN_DOUBT = { guard: 'isInDoubt', target: 'fencing' } as const

/** A pod that is seen to get requests while images are in doubt is fenced at once. */
export const RETURNED = {
  reloaded: [
    { guard: and(['isInDoubt', not('isVanished')]), target: '.fencing', actions: 'noteReturn' },
    { actions: 'noteReturn' },
  ],
} as const

/**
 * The write of images. A write without an answer may land at any time, and is read back and made again. A load balancer can forget the
 * drain meanwhile, so that the images would land under requests. So before the pod is drained again, put back or given up, the record that
 * the write tests is written anew, as a fence: the images have landed before that, or never land.
 * A record that was removed from the pod is also written first: a write that tests no record could not be kept out.
 * @param found the transitions after the images are found to have landed
 * @param late the end past the deadline
 * @param givenUp the ends without images in doubt
 */
export function fencing(
  state: 'patching' | 'rollingBack',
  recording: 'recordPatched' | 'recordRollback',
  { found, late, givenUp }: { found: Choices; late: Choices[number]; givenUp: Choices },
) {
  const write = writing(recording, 'patched', 'confirming')
  // An interrupted run puts an unpatched pod back. A rollback goes on.
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
      // Images that have landed make the write of the fence pointless.
      always: found,
      states: {
        ready: { always: [...ways, { target: 'writing' }] },
        ...writing('fence', 'deciding', 'ready'),
        // A stored fence counts as a try after the deadline: a record that another writer removes each time would loop otherwise.
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
            // No images need to be kept out.
            { guard: and([not('isInDoubt'), 'isInterrupted']), target: `#pod.${state}.deciding` },
            { target: 'pausing' },
          ],
        },
      },
    }),
  }
}
