import SatchelCore
import SatchelStorage

/// How a query finds the records that may match, what it tests of them, and how it puts them in order.
struct QueryPlan {
  indirect enum Access {
    /// All records, in insertion order.
    case scan
    case ids(Set<[UInt8]>)
    case index(CollectionIndex, KeyRanges)
    /// The records that refer to some records by a relation.
    case references(CollectionRelation, targets: Set<[UInt8]>)
    /// The records that any of these finds.
    case union([Access])
  }

  enum Order {
    case insertion
    /// Matching records are sorted.
    case sorted
    /// The index that finds the records has them in order.
    case index(IndexOrder)
  }

  /// How an index has records in the order of a query.
  struct IndexOrder {
    /// Whether it is read from its end.
    var isBackward: Bool
    /// The number of the query's values that are in the index, from the first on.
    var covered: Int
    /// Whether records with the same values are in insertion order: no other value is in the index.
    var isWhole: Bool
    /// The beginning of all keys, of the values for which the query allows one only.
    var prefix: [UInt8]
  }

  var access: Access
  /// The conditions that the access does not prove.
  var rest: [CompiledFilter]
  var order: Order
}

/// Decides how a query runs.
struct QueryPlanner {
  let indexes: [CollectionIndex]
  let relations: [CollectionRelation]
  /// The number of the collection's records.
  let count: () throws -> Int
  /// The number of records that an access finds, up to a limit.
  let estimate: (_ access: QueryPlan.Access, _ limit: Int) throws -> Int

  /// An access, and the conditions that it proves.
  fileprivate struct Found {
    var access: QueryPlan.Access
    var proved: [CompiledFilter]
    /// As of `KeyRanges`.
    var rank: Int

    func rest(of conditions: [CompiledFilter]) -> [CompiledFilter] {
      conditions.filter { condition in !proved.contains { $0 === condition } }
    }
  }

  /// The number of records up to which accesses are compared, at first.
  private static let compared = 512

  /// - Parameter wanted: the number of the first matching records that are requested; nil for all
  func plan(_ filter: CompiledFilter, order: [CompiledQuery.Order] = [], wanted: Int? = nil) throws
    -> QueryPlan
  {
    let conditions = filter.conditions
    let best = try best(conditions, wanted: wanted)
    if let walk = ordered(conditions, order), try isBetter(walk, than: best, wanted: wanted) {
      return QueryPlan(
        access: walk.found.access, rest: walk.found.rest(of: conditions), order: .index(walk.order))
    }
    let order = order.isEmpty ? QueryPlan.Order.insertion : .sorted
    if let best {
      let rest = best.rest(of: conditions)
      // The first records of a scan are soon found, if most records match.
      let isSoonOver = wanted != nil && order.isInsertion && (best.rank < 3 || rest.isEmpty)
      if try isSoonOver || !isLargePart(best, rest) {
        return QueryPlan(access: best.access, rest: rest, order: order)
      }
    }
    return QueryPlan(access: .scan, rest: conditions, order: order)
  }

  /// Whether a scan of the collection reads so many records faster than one look-up for each.
  private func isLargePart(_ found: Found, _ rest: [CompiledFilter]) throws -> Bool {
    if rest.isEmpty { if case .ids = found.access {} else { return false } }
    let most = try largePart
    return try estimate(found.access, most + 1) > most
  }

  private var largePart: Int { get throws { max(64, try count() / 3) } }

  /// An access to an index that has records in the order of a query.
  private struct Walk {
    var index: CollectionIndex
    var found: Found
    var order: QueryPlan.IndexOrder
  }

  /// Returns the access to the index that has the most values of an order; nil when none has the first.
  private func ordered(_ conditions: [CompiledFilter], _ order: [CompiledQuery.Order]) -> Walk? {
    guard !order.isEmpty else { return nil }
    var best: Walk?
    for index in indexes where !index.definition.hasElements {
      guard let access = IndexAccess(index, conditions) else { continue }
      guard let order = access.order(order) else { continue }
      let found = Found(access: .index(index, access.keys), proved: access.proved, rank: access.keys.rank)
      let walk = Walk(index: index, found: found, order: order)
      guard let known = best else {
        best = walk
        continue
      }
      if (order.covered, -found.rank) > (known.order.covered, -known.found.rank) { best = walk }
    }
    return best
  }

  /// Whether records are read in the order of an index, and not sorted after the best access has found them.
  private func isBetter(_ walk: Walk, than best: Found?, wanted: Int?) throws -> Bool {
    guard let best else { return wanted != nil }
    if case .index(let other, _) = best.access, other === walk.index { return true }
    guard let wanted else { return false }
    if best.rank == 0, case .ids = best.access { return false }
    // Where one of n records matches, the walk reads n for each that is wanted.
    let bound = Int(Double(max(1, wanted)) * Double(try count())).squareRoot
    return try estimate(best.access, bound + 1) > bound
  }

  /// Returns the access that finds the fewest records; nil when only a scan finds them.
  ///
  /// - Parameter wanted: as of `plan`
  private func best(_ conditions: [CompiledFilter], wanted: Int?) throws -> Found? {
    var found: [Found] = []
    for condition in conditions {
      if let ids = condition.test.flatMap(Self.ids) {
        return Found(access: .ids(ids), proved: [condition], rank: 0)
      }
    }
    for index in indexes {
      guard let access = IndexAccess(index, conditions), access.isNarrowed else { continue }
      found.append(
        Found(access: .index(index, access.keys), proved: access.proved, rank: access.keys.rank))
    }
    for relation in relations { found += conditions.compactMap { references(relation, $0) } }
    for condition in conditions {
      if let union = try union(condition, wanted: wanted) { found.append(union) }
    }
    guard let first = found.first, found.count > 1 else { return found.first }
    if let unique = found.first(where: { $0.rank == 0 && $0.isUnique }) { return unique }
    var limit = Self.compared
    while true {
      var (best, fewest) = (first, try estimate(first.access, limit))
      for other in found.dropFirst() {
        let number = try estimate(other.access, limit)
        if (number, -other.proved.count, other.rank) < (fewest, -best.proved.count, best.rank) {
          (best, fewest) = (other, number)
        }
      }
      // Where each of them finds many records, all of which are read, counting more entries costs less.
      if try fewest < limit || wanted != nil || limit > largePart { return best }
      limit *= 8
    }
  }

  /// Returns the records that any of the conditions of a choice finds; nil when one of them needs a scan.
  private func union(_ condition: CompiledFilter, wanted: Int?) throws -> Found? {
    guard case .any(let parts) = condition.node else { return nil }
    var (accesses, isProved, rank): ([QueryPlan.Access], Bool, Int) = ([], true, 1)
    for part in parts {
      let conditions = part.conditions
      guard let found = try best(conditions, wanted: wanted), found.rank < 3 else { return nil }
      accesses.append(found.access)
      isProved = isProved && found.rest(of: conditions).isEmpty
      rank = max(rank, found.rank)
    }
    return Found(access: .union(accesses), proved: isProved ? [condition] : [], rank: rank)
  }

  /// Returns the ids that a test allows; nil for a test that ids do not decide.
  private static func ids(_ test: CompiledTest) -> Set<[UInt8]>? {
    guard case .id = test.path, !test.isNegated else { return nil }
    let operands: [Operand]
    switch test.test {
    case .equals(let operand): operands = [operand]
    case .oneOf(let set): operands = set.operands
    default: return nil
    }
    return Set(operands.compactMap { if case .string(let id) = $0.content { id } else { nil } })
  }

  /// Returns the references of a relation that a condition asks for; nil for one that they do not decide.
  private func references(_ relation: CollectionRelation, _ condition: CompiledFilter) -> Found? {
    guard let test = condition.test, !test.isNegated, test.path == .document(relation.path) else {
      return nil
    }
    let operands: [Operand]
    switch test.test {
    case .contains(let operand, _) where relation.isMany: operands = [operand]
    case .equals(let operand) where !relation.isMany: operands = [operand]
    case .oneOf(let set) where !relation.isMany: operands = set.operands
    default: return nil
    }
    let ids = operands.compactMap { if case .string(let id) = $0.content { id } else { nil } }
    // A missing reference may be null; the elements of a list are ids.
    guard relation.isMany || ids.count == operands.count else { return nil }
    return Found(
      access: .references(relation, targets: Set(ids)), proved: [condition], rank: operands.count == 1 ? 0 : 1
    )
  }
}

extension QueryPlanner.Found {
  fileprivate var isUnique: Bool { if case .index(let index, _) = access { index.isUnique } else { false } }
}

extension QueryPlan.Order {
  var isInsertion: Bool { if case .insertion = self { true } else { false } }

  var name: String {
    switch self {
    case .insertion: "insertion"
    case .sorted: "sorted"
    case .index: "index"
    }
  }
}

extension Int {
  /// The largest whole number whose square is not larger.
  fileprivate var squareRoot: Int { Int(Double(self).squareRoot()) }
}
