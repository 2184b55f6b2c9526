import type { RoutableProject } from '../../../server/router/index.ts'

const day = { type: 'string', format: 'date' } as const
const depot = { type: 'string', 'x-values-from': 'depots.name' } as const
const mechanic = { type: 'string', 'x-values-from': 'mechanics.name' } as const

/** A garage of lorries: names of people and places, durations, temperatures, money and numbers. Written for these tests. */
export const garage: RoutableProject = {
  values: {
    'depots.name': ['Bergen', 'Hamar', 'Drammen', 'Molde Harbour', 'Skien Dock', 'Skien Central'],
    'mechanics.name': ['Anna Berg', 'Anna Lindqvist', 'Tomas Ruiz', 'Wei Chen', 'Grace Okafor', 'Peter Novak'],
    'parts.name': ['Brake Pad', 'Brake Disc', 'Oil Filter', 'Fan Belt', 'Headlight'],
  },
  queries: [
    {
      name: 'jobs_of_mechanic',
      description: 'Repair jobs that one mechanic did, newest first, optionally within a period',
      slots: { properties: { mechanic, from: day, to: day }, required: ['mechanic'] },
      examples: [
        { question: 'jobs of Wei Chen', parameters: { mechanic: 'Wei Chen' } },
        { question: 'what did Grace Okafor repair in March', parameters: { mechanic: 'Grace Okafor' } },
      ],
    },
    {
      name: 'long_jobs',
      description: 'Repair jobs that took longer than a number of minutes',
      slots: { properties: { min_minutes: { type: 'integer', minimum: 1 }, depot }, required: ['min_minutes'] },
      examples: [
        { question: 'jobs that took longer than 90 minutes', parameters: { min_minutes: 90 } },
        { question: 'repairs over 45 minutes in Hamar', parameters: { min_minutes: 45, depot: 'Hamar' } },
      ],
    },
    {
      name: 'idle_vehicles',
      description: 'Lorries that have stood still for at least a number of days',
      slots: { properties: { min_days: { type: 'integer', minimum: 1 }, depot }, required: ['min_days'] },
      examples: [{ question: 'which lorries have stood still for 10 days', parameters: { min_days: 10 } }],
    },
    {
      name: 'cold_rooms_below',
      description: 'Cold rooms whose temperature is below a number of degrees Celsius',
      slots: { properties: { max_celsius: { type: 'number', minimum: -60, maximum: 60 } }, required: ['max_celsius'] },
      examples: [{ question: 'cold rooms below 4 degrees', parameters: { max_celsius: 4 } }],
    },
    {
      name: 'costly_repairs',
      description: 'Repairs that cost at least an amount in euros, dearest first',
      slots: { properties: { min_eur: { type: 'number', minimum: 0 }, depot }, required: ['min_eur'] },
      examples: [
        { question: 'repairs of at least 500 euros', parameters: { min_eur: 500 } },
        { question: 'repairs above 2000 in Bergen', parameters: { min_eur: 2000, depot: 'Bergen' } },
      ],
    },
    {
      name: 'invoice_by_number',
      description: 'One invoice by its number',
      slots: { properties: { invoice_no: { type: 'string', pattern: '^\\d{6}$' } }, required: ['invoice_no'] },
      examples: [{ question: 'show invoice 204518', parameters: { invoice_no: '204518' } }],
    },
    {
      name: 'vehicle_details',
      description: 'Make, model and mileage of a lorry by its number',
      slots: { properties: { lorry_id: { type: 'integer', minimum: 1 } }, required: ['lorry_id'] },
      examples: [{ question: 'details of lorry 17', parameters: { lorry_id: 17 } }],
    },
    {
      name: 'fuel_costs_by_month',
      description: 'Fuel costs of a year, month by month',
      slots: { properties: { year: { type: 'integer', minimum: 2000, maximum: 2100 } }, required: ['year'] },
      examples: [{ question: 'fuel costs by month in 2025', parameters: { year: 2025 } }],
    },
    {
      name: 'repairs_count',
      description: 'How many repairs some depots finished in a period',
      slots: {
        properties: { depots: { type: 'array', items: depot }, from: day, to: day },
        required: ['from', 'to'],
      },
      examples: [
        { question: 'how many repairs did Bergen finish in May 2026', parameters: { depots: ['Bergen'] } },
        { question: 'number of repairs in Hamar and Drammen last month', parameters: { depots: ['Hamar', 'Drammen'] } },
      ],
    },
    {
      name: 'newest_lorries',
      description: 'The lorries that were bought last, a limited number of them',
      slots: { properties: { limit: { type: 'integer', minimum: 1, maximum: 100, default: 10 } }, required: [] },
      examples: [{ question: 'the 5 newest lorries', parameters: { limit: 5 } }],
    },
    {
      name: 'parts_in_stock',
      description: 'How many pieces of a spare part are in stock, by depot',
      slots: { properties: { part: { type: 'string', 'x-values-from': 'parts.name' }, depot }, required: ['part'] },
      examples: [
        { question: 'how many oil filters do we have', parameters: { part: 'Oil Filter' } },
        { question: 'fan belts in stock in Bergen', parameters: { part: 'Fan Belt', depot: 'Bergen' } },
      ],
    },
  ],
}
