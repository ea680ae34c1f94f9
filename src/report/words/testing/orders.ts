import type { OrderReasons } from '../../../reasons/order-reasons.ts'
import { EARLIER_RUN, HOLDER, NO_ANSWER, RUN, type SamplesOf, WEB } from './some.ts'

const ONE = { runs: [RUN], asked: WEB }
const TWO = { runs: [RUN, EARLIER_RUN], asked: WEB }

export const orders: SamplesOf<OrderReasons> = {
  'pause-given': [
    { ...ONE, renewalMs: 5_000, aborted: [] },
    { ...ONE, renewalMs: 5_000, aborted: [], holder: HOLDER },
    { ...TWO, renewalMs: 5_000, aborted: ['a81m0c2pqr', 'p0t6v4w2xy'] },
    { ...TWO, renewalMs: 5_000, aborted: ['a81m0c2pqr'], holder: HOLDER },
  ],
  'pause-lifted': [
    { ...ONE, by: 'ann', renewalMs: 5_000, aborted: [], command: 'upgrade' },
    { ...ONE, by: 'ann', renewalMs: 5_000, aborted: [], command: 'undo', holder: HOLDER },
    { ...TWO, by: 'ann', renewalMs: 5_000, aborted: ['a81m0c2pqr', 'p0t6v4w2xy'] },
    { ...TWO, by: 'ann', renewalMs: 5_000, aborted: ['a81m0c2pqr'], holder: HOLDER },
  ],
  'abort-given': [ONE, TWO],
  'ended-before-abort': [ONE, TWO],
  'abort-done': [
    { ...ONE, left: [] },
    { ...TWO, left: [{ code: 'template-kept', workload: WEB, upgraded: 2 }] },
  ],
  'left-without-record': [
    { asked: WEB, found: [{ code: 'half-done-without-record', pod: 'web-0' }] },
    { asked: WEB, found: [{ code: 'record-of-run-unreadable', run: RUN }] },
    {
      asked: WEB,
      found: [
        { code: 'half-done-without-record', pod: 'web-0' },
        { code: 'record-of-run-unreadable', run: RUN },
      ],
    },
  ],
  'nothing-to-order': [
    { order: 'pause', asked: WEB },
    { order: 'abort', asked: WEB, holder: HOLDER },
  ],
  'not-paused': [{ asked: WEB }],
  'no-lease-for-order': [
    { runs: [RUN], asked: WEB },
    { runs: [RUN, EARLIER_RUN], asked: WEB },
  ],
  'being-aborted': [
    { runs: [RUN], by: 'ann' },
    { runs: [RUN, EARLIER_RUN], by: 'ann' },
  ],
  'order-may-stand': [{ because: NO_ANSWER }],
  'order-stands-unsure': [{ because: NO_ANSWER }],
  'begun-after-abort': [{ run: RUN, runs: [EARLIER_RUN] }],
  'abort-stays-ordered': [{ because: NO_ANSWER }],
  'no-pods-by-selector': [{ selector: 'app=none', namespace: 'shop' }],
  'half-done-without-record': [{ pod: 'web-0' }],
  'record-of-run-unreadable': [{ run: RUN }],
}
