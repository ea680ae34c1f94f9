import { type Check, found, skippedFor, together } from '../check.ts'
import type { Rights } from '../gathered.ts'

/** The caller has the rights that a run needs: those that `sluice rbac` prints, without the optional ones. */
export const rights: Check = {
  name: 'rights',
  examine: ({ rights: asked }) => (asked.ok ? together(...asked.value.map((one) => examine(one))) : skippedFor(asked.because)),
}

function examine({ namespace, missing, unasked }: Rights): ReturnType<Check['examine']> {
  if (missing.length > 0) return found([{ code: 'rights-missing', namespace, rights: [...missing] }])
  return unasked === undefined ? found([]) : skippedFor({ code: 'rights-not-asked', because: unasked })
}
