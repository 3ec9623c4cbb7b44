import SatchelCore
import SatchelStorage

/// The changes of a handle that are not known to be in the store: those that are pending, those being saved,
/// and those in the outbox file.
struct UnsavedChanges {
  private var operations: [StateTarget: [StateOperation]] = [:]
  /// Targets with pending changes.
  private var pending: Set<StateTarget> = []
  /// The number of pending changes; a mark belongs to the change that it was made with, and is not counted.
  private(set) var count = 0
  /// The number of the newest change.
  private(set) var newest: Int64 = 0
  /// Changes up to this number are not pending: they are being saved, or spooled.
  private var inFlight: Int64 = 0
  let writer: Int64

  /// - Parameter spooled: the operations that an earlier handle left in the outbox file, in order
  init(writer: Int64, spooled: [StateOperation] = []) {
    self.writer = writer
    // They have lower numbers than this handle's own changes.
    for (position, operation) in spooled.enumerated() {
      insert(operation, numbered: Int64(position - spooled.count))
    }
  }

  /// Opens the changes in the outbox file whose key has become known. Without the key no change was added to the same
  /// lists, sets and scores.
  mutating func open(by keys: Keyring.Keys) {
    let all = operations.values.joined().ordered { $0.number < $1.number }
    for operation in all {
      guard let opened = try? operation.opened(by: keys) else { continue }
      operations[operation.target]?.removeAll { $0.number == operation.number }
      insert(opened, numbered: operation.number)
    }
  }

  /// Adds a change.
  mutating func add(_ target: StateTarget, _ action: StateOperation.Action, time: Int64) {
    newest += 1
    insert(
      StateOperation(target: target, action: action, time: time, writer: writer, sequence: newest),
      numbered: newest)
    pending.insert(target)
    if !target.isMark { count += 1 }
  }

  var hasPending: Bool { !pending.isEmpty }

  private mutating func insert(_ operation: StateOperation, numbered number: Int64) {
    let target = operation.target
    var numbered = operation
    numbered.number = number
    guard operation.action.supersedesEarlier else {
      return operations[target, default: []].append(numbered)
    }
    if !target.isMark, pending.contains(target) {
      count -= operations[target, default: []].count { $0.number > inFlight }
    }
    operations[target] = [numbered]
  }

  /// The changes of a target, in order.
  subscript(target: StateTarget) -> [StateOperation] { operations[target] ?? [] }

  /// Returns the newest change of a target if it is pending.
  func pending(_ target: StateTarget) -> StateOperation? {
    guard let last = operations[target]?.last, last.number > inFlight else { return nil }
    return last
  }

  /// Returns the changes of the targets that satisfy a condition; those of one target in order.
  func all(where condition: (StateTarget) -> Bool) -> [StateOperation] {
    operations.filter { condition($0.key) }.flatMap(\.value)
  }

  /// Returns the pending changes in order; they are in flight from now on.
  ///
  /// - Returns: the changes, and the position that `cancelSave(before:)` needs
  mutating func beginSave() -> (operations: [StateOperation], before: Int64) {
    let before = inFlight
    let operations = pending.flatMap { self[$0] }.filter { $0.number > before }
    pending = []
    count = 0
    inFlight = newest
    return (operations.ordered { $0.number < $1.number }, before)
  }

  /// Makes changes pending again that could not be saved, except those that newer changes have superseded.
  mutating func cancelSave(before: Int64) {
    inFlight = before
    pending = []
    count = 0
    for (target, list) in operations {
      guard list.contains(where: { $0.number > before }) else { continue }
      pending.insert(target)
      if !target.isMark { count += list.count { $0.number > before } }
    }
  }

  /// Removes the changes up to a number, which are in the store.
  mutating func confirm(through number: Int64) {
    for (target, list) in operations {
      let rest = list.filter { $0.number > number }
      if rest.count < list.count { operations[target] = rest.isEmpty ? nil : rest }
    }
  }

  /// Removes all changes that are not pending; they are in the store.
  mutating func confirmInFlight() { confirm(through: inFlight) }
}
