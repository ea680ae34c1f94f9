import { type Check, found, skippedFor } from '../check.ts'

/** A run has the rights that it needs: those that `sluice rbac` prints, but for the optional ones. */
export const rights: Check = {
  name: 'rights',
  examine({ rights: asked, namespace }) {
    if (!asked.ok) return skippedFor(asked.because)
    const { missing, unasked } = asked.value
    if (missing.length > 0)
      return found([{ code: 'rights-missing', ...(namespace === undefined ? {} : { namespace }), rights: [...missing] }])
    return unasked === undefined ? found([]) : skippedFor({ code: 'rights-not-asked', because: unasked })
  },
}
