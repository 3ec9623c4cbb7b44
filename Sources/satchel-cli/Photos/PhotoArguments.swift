import ArgumentParser
import Satchel

/// What every command about a catalogue takes: a store, and the directory that the catalogue is of.
struct PhotoArguments: ParsableArguments {
  @OptionGroup var store: StoreArguments

  @Argument(help: "The directory whose photos they are.", completion: .directory)
  var directory: String

  var json: Bool { store.json }

  /// Opens the store and the catalogue, for `body` only.
  ///
  /// - Parameters:
  ///   - writing: whether the command changes the catalogue
  ///   - creating: whether to make a store that does not exist; nil when the command never does
  func withCatalogue<Result>(
    writing: Bool = false, creating: Bool? = nil, _ body: (PhotoCatalogue) throws -> Result
  ) throws -> Result {
    let store = try self.store.open(writing: writing, creating: creating)
    do {
      let photos = try store.photos(in: directory)
      let result = try body(photos)
      try photos.close()
      try store.close()
      return result
    } catch {
      try? store.close()
      throw error
    }
  }
}

/// Whether a store is made where there is none: asked for, since a name that is mistyped is no wish for a new store.
struct CreationArguments: ParsableArguments {
  @Flag(help: "Make the store when there is none.")
  var create = false

  /// Checks what a command will read, before a store is made for nothing.
  func check(_ path: String) throws {
    guard !create || access(path, F_OK) == 0 else {
      throw SatchelError(.notFound, "\(path.printable): does not exist")
    }
  }
}
