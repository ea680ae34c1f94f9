/** A kind of object, as the API names it. */
export interface KindName {
  /** Empty for the core group. */
  group: string
  version: string
  /** Such as `StatefulSet`. */
  kind: string
  /** Such as `statefulsets`. */
  plural: string
}

/** One object of a kind, within a namespace. */
export interface WorkloadId extends KindName {
  name: string
}

type OfKind = Pick<KindName, 'group' | 'kind'>
/** What tells one workload from all others of its namespace. */
export type WorkloadKey = OfKind & Pick<WorkloadId, 'name'>
/** As an owner reference names it. */
type OwnerName = { apiVersion: string; kind: string; name: string }

/** The groups of Kubernetes itself whose kinds are named without them: kubectl prefers these for `statefulset/web`. */
const UNNAMED_GROUPS = new Set(['', 'apps'])

/** Other groups have kinds of the same name; a kind of another version is the same kind. */
export function isSameKind(one: OfKind, other: OfKind): boolean {
  return one.kind === other.kind && one.group === other.group
}

/** By name: a workload that was deleted and made again is the same one, with another uid. */
export function isSameWorkload(one: WorkloadKey, other: WorkloadKey): boolean {
  return one.name === other.name && isSameKind(one, other)
}

/** The kind that an owner reference is about. */
export function kindOfOwner({ apiVersion, kind }: Pick<OwnerName, 'apiVersion' | 'kind'>): OfKind {
  return { group: apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '', kind }
}

/** The owner reference is about this workload, or one of its name before it. */
export function isOwnedBy({ owner }: { owner?: OwnerName | undefined }, workload: WorkloadKey): boolean {
  return owner !== undefined && isSameWorkload({ ...kindOfOwner(owner), name: owner.name }, workload)
}

/** The names alone. */
export function idOf({ group, version, kind, plural, name }: WorkloadId): WorkloadId {
  return { group, version, kind, plural, name }
}

/** Of an owner of whatever kind: the plural is a guess, for display. */
export function ownerId(owner: OwnerName): WorkloadId {
  const { group, kind } = kindOfOwner(owner)
  const version = owner.apiVersion.slice(owner.apiVersion.indexOf('/') + 1)
  return { group, version, kind, plural: `${kind.toLowerCase()}s`, name: owner.name }
}

/** As a person writes it: `statefulset/web`, `clonesets.apps.example.dev/web`. */
export function displayName({ name, ...kind }: WorkloadId): string {
  return `${displayType(kind)}/${name}`
}

/** The TYPE of `TYPE/NAME`; kubectl understands it too. */
export function displayType({ group, kind, plural }: KindName): string {
  return isNamedWithoutGroup(group) ? kind.toLowerCase() : `${plural}.${group}`
}

export function isNamedWithoutGroup(group: string): boolean {
  return UNNAMED_GROUPS.has(group)
}
