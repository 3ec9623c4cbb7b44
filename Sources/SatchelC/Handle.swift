import Satchel
import Synchronization

/// Objects that the host holds by number. A number that was given back, or never given out, is recognised:
/// it is never followed as an address.
final class HandleTable<Object: AnyObject & Sendable>: Sendable {
  private struct Slot {
    var generation: UInt32
    var object: Object?
  }

  private struct State {
    var slots: ContiguousArray<Slot> = []
    var free: [UInt32] = []
  }

  private let state = Mutex(State())
  /// Tells handles of this table from those of others.
  private let kind: UInt
  private let noun: StaticString

  private static var half: UInt { UInt(UInt.bitWidth / 2) }
  private static var kindBits: UInt { 4 }

  init(kind: UInt, noun: StaticString) {
    self.kind = kind
    self.noun = noun
  }

  /// Takes an object in.
  func give(_ object: Object) -> OpaquePointer? {
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

  /// The object of a handle.
  @inline(__always)
  func borrow(_ handle: OpaquePointer?) throws -> Object {
    let object = state.withLock { state -> Object? in
      guard let slot = index(of: handle, in: state) else { return nil }
      return state.slots[slot].object
    }
    guard let object else { throw missing(handle) }
    return object
  }

  /// The object of a handle, which is none from now on; nil when it was none.
  func take(_ handle: OpaquePointer?) -> Object? {
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

  func missing(_ handle: OpaquePointer?) -> SatchelError {
    handle == nil
      ? SatchelError(.invalid, "\(noun) is NULL")
      : SatchelError(.closed, "\(noun) was closed, or never was one")
  }
}

enum Handles {
  static let stores = HandleTable<Satchel>(kind: 1, noun: "store")
  static let observers = HandleTable<ObserverHandle>(kind: 2, noun: "observer")
  static let sessions = HandleTable<Session>(kind: 3, noun: "session")
  static let stories = HandleTable<StoryLibrary>(kind: 4, noun: "stories")
  static let remotes = HandleTable<Remote>(kind: 5, noun: "remote")
  static let photos = HandleTable<PhotoCatalogue>(kind: 6, noun: "photos")
  static let answers = HandleTable<RemoteAnswer>(kind: 7, noun: "answer")
  static let records = HandleTable<RecordCollection>(kind: 8, noun: "records")
  static let recordAnswers = HandleTable<RecordAnswer>(kind: 9, noun: "answer")
}

final class ObserverHandle: Sendable {
  let observation: Satchel.Observation
  init(_ observation: Satchel.Observation) { self.observation = observation }
}

/// An object store that the host holds.
final class Remote: Sendable {
  let store: any ObjectStore
  init(_ store: any ObjectStore) { self.store = store }
}

/// What the host wants handed to its callbacks; its `release` is called once, when nothing refers to it any more.
// Unchecked: the address is only ever handed back to the host, which answers for what it means.
final class HostContext: @unchecked Sendable {
  let address: UnsafeMutableRawPointer?
  private let release: (@convention(c) (UnsafeMutableRawPointer?) -> Void)?

  init(_ address: UnsafeMutableRawPointer?, _ release: (@convention(c) (UnsafeMutableRawPointer?) -> Void)?) {
    self.address = address
    self.release = release
  }

  deinit { release?(address) }
}
