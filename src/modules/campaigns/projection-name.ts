/** The name under which campaigns follow their messages: it is written into rows (docs/decisions/transitions.md). */
export const projectionName = 'campaigns'
