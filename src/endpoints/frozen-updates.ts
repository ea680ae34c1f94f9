/**
 * The versions of Kubernetes whose endpoints controller takes an update that changes nothing for one that it has not seen yet: it waits
 * for a new resourceVersion, and writes the object no more (kubernetes#126578). By minor version: the first patch version with the fault
 * (kubernetes#125675), and the first one without it (kubernetes#127417). Later minor versions have the fix from the start.
 */
const FROZEN: Readonly<Record<number, { readonly from: number; readonly fixedIn: number }>> = {
  28: { from: 12, fixedIn: 15 },
  29: { from: 7, fixedIn: 10 },
  30: { from: 3, fixedIn: 6 },
  31: { from: 0, fixedIn: 2 },
}

/** The first version without the fault, such as `1.30.6`. Undefined where `1.MINOR.PATCH` does not have the fault, or is not known. */
export function freezeFixedIn({ minor, patch }: { minor?: number | undefined; patch?: number | undefined }): string | undefined {
  const of = minor === undefined ? undefined : FROZEN[minor]
  // A version without its patch number may have the fault.
  if (of === undefined || (patch !== undefined && (patch < of.from || patch >= of.fixedIn))) return undefined
  return `1.${minor}.${of.fixedIn}`
}

/** The numbers in `gitVersion` of an API server, such as `v1.30.4-eks-a737599`. */
export function numbersOfVersion(version: string): { minor?: number; patch?: number } {
  const [, minor, patch] = /^v?1\.(\d+)\.(\d+)/.exec(version) ?? []
  return minor === undefined ? {} : { minor: Number(minor), patch: Number(patch) }
}
