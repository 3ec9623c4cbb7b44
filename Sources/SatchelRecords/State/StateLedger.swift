/// The changes that are not in the store yet, or not known to be: those that wait to be saved, those being
/// saved, and those in the spill file.
struct StateLedger {
  private var operations: [StateTarget: [StateOperation]] = [:]
  /// Targets with changes that wait.
  private var waiting: Set<StateTarget> = []
  /// How many wait.
  private(set) var count = 0
  /// The number of the newest.
  private(set) var newest: Int64 = 0
  /// Changes up to this one do not wait: they are being saved, or spilled.
  private var taken: Int64 = 0
  let writer: Int64

  /// - Parameter spilled: what an earlier handle left in the spill file, in order
  init(writer: Int64, spilled: [StateOperation] = []) {
    self.writer = writer
    // Before all numbers of this handle's own.
    for (position, operation) in spilled.enumerated() {
      insert(operation, numbered: Int64(position - spilled.count))
    }
  }

  /// Takes a change in.
  mutating func add(_ target: StateTarget, _ action: StateOperation.Action, time: Int64) {
    newest += 1
    let operation = StateOperation(
      target: target, action: action, time: time, writer: writer, mark: newest, number: newest)
    insert(operation, numbered: newest)
    waiting.insert(target)
    count += 1
  }

  private mutating func insert(_ operation: StateOperation, numbered number: Int64) {
    let numbered = StateOperation(
      target: operation.target, action: operation.action, time: operation.time, writer: operation.writer,
      mark: operation.mark, number: number)
    guard operation.action.standsAlone else {
      operations[operation.target, default: []].append(numbered)
      return
    }
    if waiting.contains(operation.target) {
      count -= operations[operation.target, default: []].count { $0.number > taken }
    }
    operations[operation.target] = [numbered]
  }

  /// Those about a target, in order.
  subscript(target: StateTarget) -> [StateOperation] { operations[target] ?? [] }

  /// The newest about a target, if it waits.
  func waiting(_ target: StateTarget) -> StateOperation? {
    guard let last = operations[target]?.last, last.number > taken else { return nil }
    return last
  }

  /// Those about targets for which a condition holds; of each target in order.
  func all(where condition: (StateTarget) -> Bool) -> [StateOperation] {
    operations.filter { condition($0.key) }.flatMap(\.value)
  }

  /// Takes those that wait, in order; they are being saved from now on.
  ///
  /// - Returns: and for `giveBack`, where they began
  mutating func take() -> (operations: [StateOperation], before: Int64) {
    let before = taken
    let pending = waiting.flatMap { target in (operations[target] ?? []).filter { $0.number > before } }
    waiting = []
    count = 0
    taken = newest
    return (pending.sorted { $0.number < $1.number }, before)
  }

  /// They could not be saved, and wait again, but for what other changes have made needless.
  mutating func giveBack(before: Int64) {
    taken = before
    waiting = []
    count = 0
    for (target, list) in operations {
      let pending = list.count { $0.number > before }
      guard pending > 0 else { continue }
      waiting.insert(target)
      count += pending
    }
  }

  /// Those up to a number are in the store.
  mutating func settle(through number: Int64) {
    for (target, list) in operations {
      let rest = list.filter { $0.number > number }
      if rest.count < list.count { operations[target] = rest.isEmpty ? nil : rest }
    }
  }

  /// All that do not wait are in the store.
  mutating func settleTaken() { settle(through: taken) }
}
