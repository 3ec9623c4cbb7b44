/// Prepared statements by the address of their constant text: a look-up stands before every statement that runs.
struct StatementTable {
  private struct Slot {
    /// 0 for a free one.
    var key: UInt = 0
    var statement: Statement?
  }

  // A power of two, half of it free at least: a look-up ends at a free slot.
  private var slots = ContiguousArray(repeating: Slot(), count: 64)
  private var count = 0

  /// Where a key is looked for first; addresses differ in their middle bits.
  private static func place(_ key: UInt, in size: Int) -> Int {
    Int(truncatingIfNeeded: UInt64(key) &* 0x9E37_79B9_7F4A_7C15 >> 32) & (size - 1)
  }

  subscript(key: UInt) -> Statement? {
    var place = Self.place(key, in: slots.count)
    while slots[place].key != 0 {
      if slots[place].key == key { return slots[place].statement }
      place = (place + 1) & (slots.count - 1)
    }
    return nil
  }

  /// Adds a statement that is not there.
  mutating func add(_ statement: Statement, _ key: UInt) {
    if count * 2 >= slots.count {
      let old = slots
      slots = ContiguousArray(repeating: Slot(), count: old.count * 2)
      for slot in old where slot.key != 0 { put(slot) }
    }
    put(Slot(key: key, statement: statement))
    count += 1
  }

  private mutating func put(_ slot: Slot) {
    var place = Self.place(slot.key, in: slots.count)
    while slots[place].key != 0 { place = (place + 1) & (slots.count - 1) }
    slots[place] = slot
  }

  mutating func removeAll() { self = StatementTable() }
}
