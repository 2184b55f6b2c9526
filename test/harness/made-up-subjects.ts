const nouns = [
  'orders',
  'returns',
  'visits',
  'invoices',
  'tickets',
  'parcels',
  'contracts',
  'refunds',
  'bookings',
  'claims',
]
const verbs = [
  'opened',
  'closed',
  'delayed',
  'approved',
  'rejected',
  'shipped',
  'paid',
  'cancelled',
  'reviewed',
  'moved',
  'lost',
  'found',
]

/** 120 things that queries can be about, for whoever needs many: each noun with each verb. */
export const madeUpSubjects = nouns.flatMap((noun) => verbs.map((verb) => ({ noun, verb })))
