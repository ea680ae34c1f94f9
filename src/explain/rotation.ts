import type { Place, Rotation } from './explanation.ts'

/**
 * The rotation of a pod by the places that decide: slices and load balancers. Endpoints follow the same pods, and few clients read them.
 * `isHidden` means that the pod may have other places.
 */
export function rotationOf(places: readonly Place[], isHidden: boolean): Rotation {
  const states = [...places.flatMap(stateOf), ...(isHidden ? ['unknown' as const] : [])]
  if (states.length === 0) return 'nowhere'
  if (states.every((state) => state === 'in')) return 'in'
  if (states.every((state) => state === 'out')) return 'out'
  const known = states.filter((state) => state !== 'unknown')
  return known.every((state) => state === 'in') ? 'unknown' : 'partly'
}

function stateOf(place: Place): ('in' | 'out' | 'unknown')[] {
  switch (place.in) {
    case 'slice':
      return [place.ready ? 'in' : 'out']
    case 'no-slice':
    case 'no-entry':
      return ['out']
    case 'load-balancer':
      if (place.admin === 'unknown') return ['unknown']
      return [place.admin === 'in' && place.routable ? 'in' : 'out']
    case 'endpoints':
      return []
  }
}
