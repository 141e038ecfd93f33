/** How the checks of an adapter are called together, in front of its name. */
export const SUITE = 'an endpoint on '
