import Synchronization

/// The objects of a handle table, whatever they are: one piece of code for all kinds.
final class HandleSlots: Sendable {
  typealias Object = AnyObject & Sendable

  private struct Slot {
    var generation: UInt32
    var object: (any Object)?
  }

  private struct State {
    var slots: ContiguousArray<Slot> = []
    var free: [UInt32] = []
  }

  private let state = Mutex(State())
  /// Tells handles of this table from those of others.
  private let kind: UInt

  private static var half: UInt { UInt(UInt.bitWidth / 2) }
  private static var kindBits: UInt { 4 }

  init(kind: UInt) { self.kind = kind }

  func give(_ object: any Object) -> OpaquePointer? {
    state.withLock { state in
      let slot: UInt32
      if let free = state.free.popLast() {
        slot = free
        state.slots[Int(slot)].object = object
      } else {
        slot = UInt32(state.slots.count)
        state.slots.append(Slot(generation: 1, object: object))
      }
      let generation = UInt(state.slots[Int(slot)].generation) & (1 << Self.half - 1)
      return OpaquePointer(bitPattern: generation << Self.half | UInt(slot) << Self.kindBits | kind)
    }
  }

  // Every call of a host comes through here.
  @_optimize(speed)
  func object(of handle: OpaquePointer?) -> (any Object)? {
    state.withLock { state in
      guard let slot = index(of: handle, in: state) else { return nil }
      return state.slots[slot].object
    }
  }

  func take(_ handle: OpaquePointer?) -> (any Object)? {
    state.withLock { state in
      guard let slot = index(of: handle, in: state) else { return nil }
      let object = state.slots[slot].object
      state.slots[slot].object = nil
      state.slots[slot].generation &+= 1
      if state.slots[slot].generation == 0 { state.slots[slot].generation = 1 }
      state.free.append(UInt32(slot))
      return object
    }
  }

  @inline(__always)
  private func index(of handle: OpaquePointer?, in state: borrowing State) -> Int? {
    let bits = UInt(bitPattern: handle)
    let mask = 1 << Self.half - 1 as UInt
    let slot = Int((bits & mask) >> Self.kindBits)
    guard bits & (1 << Self.kindBits - 1) == kind, slot < state.slots.count, state.slots[slot].object != nil,
      UInt(state.slots[slot].generation) & mask == bits >> Self.half
    else { return nil }
    return slot
  }
}
