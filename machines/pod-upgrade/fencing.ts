import { not, or } from 'xstate'
import { podSetup } from './setup.ts'
import { writing } from './writing.ts'

type Always = NonNullable<Parameters<typeof podSetup.createStateConfig>[0]['always']>
type Choices = Extract<Always, readonly unknown[]>

/**
 * The write of images. While nobody has answered for it, it may land at any time: also on a pod that a load balancer has forgotten to
 * keep out, and that was drained again a moment ago. So where it gets no answer, and where the pod is seen to get requests while it has
 * none, the record is written anew over what it is guarded by: it has landed before that, or never does. That is its read-back too.
 * Found by simulation (seed 60969043): images landed under requests, more than a second after these had been seen.
 * @param meanwhile what may have become of the pod and its images
 * @param givenUp where it ends if they cannot be got out of the way; until then it has to stay out, also where it was interrupted
 */
export function fencing(
  state: 'patching' | 'rollingBack',
  recording: 'recordPatched' | 'recordRollback',
  { meanwhile, givenUp }: { meanwhile: Choices; givenUp: Choices },
) {
  const write = writing(recording, 'patched', 'confirming')
  const on = `#pod.${state}.deciding` as const
  const known = [...meanwhile, { guard: 'isFenced', target: on }] as const
  return {
    ...write,
    writing: podSetup.createStateConfig({
      ...write.writing,
      on: {
        reloaded: [
          { guard: not(or(['isFenced', 'isVanished'])), target: 'fencing', actions: 'noteReturn' },
          { actions: 'noteReturn' },
        ],
      },
    }),
    written: podSetup.createStateConfig({
      always: [
        { guard: 'isStored', target: 'patched' },
        { guard: 'isUnknown', target: 'fencing', actions: 'countLateTry' },
        { target: 'rereading', actions: 'countLateTry' },
      ],
    }),
    fencing: podSetup.createStateConfig({
      initial: 'ready',
      states: {
        ready: { always: [...known, { target: 'writing' }] },
        ...writing('fence', on, 'ready'),
        deciding: { always: [...known, ...givenUp, { target: 'pausing' }] },
      },
    }),
  }
}
