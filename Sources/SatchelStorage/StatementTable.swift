import SatchelCore

/// A hash table of prepared statements by the address of their constant SQL; every execution begins with a
/// look-up here.
struct StatementTable {
  private struct Slot {
    /// The address; 0 for a free slot.
    var key: UInt = 0
    var statement: Statement?
  }

  // A power of two, at least half of it free: a look-up ends at a free slot.
  private var slots = ContiguousArray(repeating: Slot(), count: 64)
  private var count = 0

  /// Returns the first slot to probe for a key; addresses differ in their middle bits.
  private static func index(_ key: UInt, in size: Int) -> Int {
    Int(truncatingIfNeeded: UInt64(key) &* 0x9E37_79B9_7F4A_7C15 >> 32) & (size - 1)
  }

  subscript(key: UInt) -> Statement? {
    var index = Self.index(key, in: slots.count)
    while slots[index].key != 0 {
      if slots[index].key == key { return slots[index].statement }
      index = (index + 1) & (slots.count - 1)
    }
    return nil
  }

  /// Adds a statement whose key is not in the table.
  mutating func add(_ statement: Statement, _ key: UInt) {
    if count * 2 >= slots.count {
      let old = slots
      slots = ContiguousArray(repeating: Slot(), count: old.count * 2)
      for slot in old where slot.key != 0 { insert(slot) }
    }
    insert(Slot(key: key, statement: statement))
    count += 1
  }

  private mutating func insert(_ slot: Slot) {
    var index = Self.index(slot.key, in: slots.count)
    while slots[index].key != 0 { index = (index + 1) & (slots.count - 1) }
    slots[index] = slot
  }

  mutating func removeAll() { self = StatementTable() }
}
