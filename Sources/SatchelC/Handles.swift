import Satchel
import Synchronization

/// The objects of one kind that the host refers to by handle. Handles are slot numbers with a generation, not
/// addresses: a freed or invalid handle is detected and never dereferenced.
struct HandleTable<Object: AnyObject & Sendable>: Sendable {
  private let slots: HandleSlots
  private let noun: StaticString

  init(kind: UInt, noun: StaticString) {
    slots = HandleSlots(kind: kind)
    self.noun = noun
  }

  /// Stores an object and returns its new handle.
  func insert(_ object: Object) -> OpaquePointer? { slots.insert(object) }

  /// Returns the object of a handle.
  ///
  /// - Throws: `SatchelError` `.invalid` for NULL, `.closed` for a handle that is not valid
  @inline(__always)
  func borrow(_ handle: OpaquePointer?) throws -> Object {
    guard let object = slots.object(of: handle) else { throw missing(handle) }
    // The table only stores objects of this type.
    return unsafeDowncast(object, to: Object.self)
  }

  /// Removes the object of a handle and returns it; nil when the handle is not valid.
  func remove(_ handle: OpaquePointer?) -> Object? {
    slots.remove(handle).map { unsafeDowncast($0, to: Object.self) }
  }

  /// Returns the error for a handle that has no object.
  func missing(_ handle: OpaquePointer?) -> SatchelError {
    handle == nil
      ? SatchelError(.invalid, "\(noun) is NULL")
      : SatchelError(.closed, "\(noun) is not an open handle: it was closed or never opened")
  }
}

/// The handle tables, one for each kind of object.
enum Handles {
  static let stores = HandleTable<Store>(kind: 1, noun: "store")
  static let observers = HandleTable<ObserverHandle>(kind: 2, noun: "observer")
  static let sessions = HandleTable<Session>(kind: 3, noun: "session")
  static let stories = HandleTable<StoryLibrary>(kind: 4, noun: "stories")
  static let remotes = HandleTable<Remote>(kind: 5, noun: "remote")
  static let photos = HandleTable<PhotoCatalogue>(kind: 6, noun: "photos")
  static let answers = HandleTable<RemoteAnswer>(kind: 7, noun: "answer")
  static let records = HandleTable<RecordCollection>(kind: 8, noun: "records")
  static let recordAnswers = HandleTable<RecordAnswer>(kind: 9, noun: "answer")
  static let openStories = HandleTable<Story>(kind: 10, noun: "story")
  static let interrupts = HandleTable<Interrupt>(kind: 11, noun: "interrupt")
}

/// A subscription that the host holds: an observation, or a live query.
final class ObserverHandle: Sendable {
  let cancel: @Sendable () -> Void
  /// Nil for other observers.
  let live: LiveQuery?

  init(live: LiveQuery? = nil, cancel: @escaping @Sendable () -> Void) {
    self.live = live
    self.cancel = cancel
  }
}

/// An object store that the host holds.
final class Remote: Sendable {
  let store: any ObjectStore
  init(_ store: any ObjectStore) { self.store = store }
}

/// The context pointer of the host's callbacks; `release` is called once, when the last reference is
// released. Unchecked: the address is only passed back to the host, which is responsible for its thread
// safety.
final class HostContext: @unchecked Sendable {
  let address: UnsafeMutableRawPointer?
  private let release: (@convention(c) (UnsafeMutableRawPointer?) -> Void)?

  init(_ address: UnsafeMutableRawPointer?, _ release: (@convention(c) (UnsafeMutableRawPointer?) -> Void)?) {
    self.address = address
    self.release = release
  }

  deinit {
    if let release { HostWork.calling("a release function") { release(address) } }
  }
}

/// The untyped storage of a handle table, compiled once for all kinds of objects.
final class HandleSlots: Sendable {
  typealias Object = AnyObject & Sendable

  private struct Slot {
    var generation: UInt32
    var object: (any Object)?
  }

  private struct Contents {
    var slots: ContiguousArray<Slot> = []
    var free: [UInt32] = []
  }

  private let contents = Mutex(Contents())
  /// The number in the lowest bits of this table's handles.
  private let kind: UInt

  private static var halfWidth: UInt { UInt(UInt.bitWidth / 2) }
  private static var kindBits: UInt { 4 }

  init(kind: UInt) { self.kind = kind }

  func insert(_ object: any Object) -> OpaquePointer? {
    contents.withLock { contents in
      let slot: UInt32
      if let free = contents.free.popLast() {
        slot = free
        contents.slots[Int(slot)].object = object
      } else {
        slot = UInt32(contents.slots.count)
        contents.slots.append(Slot(generation: 1, object: object))
      }
      let generation = UInt(contents.slots[Int(slot)].generation) & (1 << Self.halfWidth - 1)
      return OpaquePointer(bitPattern: generation << Self.halfWidth | UInt(slot) << Self.kindBits | kind)
    }
  }

  // Runs in every call of the host.
  @_optimize(speed)
  func object(of handle: OpaquePointer?) -> (any Object)? {
    contents.withLock { contents in
      guard let slot = index(of: handle, in: contents) else { return nil }
      return contents.slots[slot].object
    }
  }

  func remove(_ handle: OpaquePointer?) -> (any Object)? {
    contents.withLock { contents in
      guard let slot = index(of: handle, in: contents) else { return nil }
      let object = contents.slots[slot].object
      contents.slots[slot].object = nil
      contents.slots[slot].generation &+= 1
      if contents.slots[slot].generation == 0 { contents.slots[slot].generation = 1 }
      contents.free.append(UInt32(slot))
      return object
    }
  }

  @inline(__always)
  private func index(of handle: OpaquePointer?, in contents: borrowing Contents) -> Int? {
    let bits = UInt(bitPattern: handle)
    let mask = 1 << Self.halfWidth - 1 as UInt
    let slot = Int((bits & mask) >> Self.kindBits)
    guard bits & (1 << Self.kindBits - 1) == kind, slot < contents.slots.count,
      contents.slots[slot].object != nil,
      UInt(contents.slots[slot].generation) & mask == bits >> Self.halfWidth
    else { return nil }
    return slot
  }
}
