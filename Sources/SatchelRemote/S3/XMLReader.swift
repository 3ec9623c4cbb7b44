import CCurl

/// Reads XML responses with expat. Document type declarations are rejected, so no entities can be defined.
enum XMLReader {
  private struct State {
    /// The local names from the root element to the current one.
    var path: [String] = []
    /// The text since the last tag.
    var text: [UInt8] = []
    let visit: (_ path: [String], _ text: String) -> Bool
  }

  /// Parses a document.
  ///
  /// - Parameter visit: called at the end of each element with its path from the root, and its text after its
  ///   last child element; returns false to stop
  /// - Throws: `.foreign` for a document that is not XML, is rejected, or was stopped; `.io` when expat is
  ///   not installed
  static func read(_ bytes: [UInt8], _ visit: (_ path: [String], _ text: String) -> Bool)
    throws(ObjectStoreError)
  {
    var message = [CChar](repeating: 0, count: 256)
    guard ccurl_xml_load(&message, message.count) else {
      throw ObjectStoreError(.failed(.io), String(message: message))
    }
    let outcome = withoutActuallyEscaping(visit) { visit in
      var state = State(visit: visit)
      return withUnsafeMutablePointer(to: &state) { state in
        var events = ccurl_xml_events()
        events.context = UnsafeMutableRawPointer(state)
        events.on_start = { context, name, _ in
          guard let state = XMLReader.state(context), let name else { return false }
          state.pointee.path.append(XMLReader.local(name))
          state.pointee.text.removeAll(keepingCapacity: true)
          return true
        }
        events.on_text = { context, bytes, length in
          let bytes = UnsafeRawBufferPointer(start: bytes, count: length)
          XMLReader.state(context)?.pointee.text.append(contentsOf: bytes)
          return true
        }
        events.on_end = { context, _ in
          guard let state = XMLReader.state(context) else { return false }
          let text = String(decoding: state.pointee.text, as: UTF8.self)
          state.pointee.text.removeAll(keepingCapacity: true)
          defer { _ = state.pointee.path.popLast() }
          return state.pointee.visit(state.pointee.path, text)
        }
        return bytes.withUnsafeBufferPointer { ccurl_xml_read($0.baseAddress, $0.count, &events) }
      }
    }
    switch outcome {
    case CCURL_XML_DONE: return
    case CCURL_XML_NO_MEMORY:
      throw ObjectStoreError(.failed(.noMemory), "not enough memory to read the store's response")
    default: throw ObjectStoreError(.failed(.foreign), "the store's response is not the expected XML")
    }
  }

  private static func state(_ context: UnsafeMutableRawPointer?) -> UnsafeMutablePointer<State>? {
    context?.assumingMemoryBound(to: State.self)
  }

  private static func local(_ name: UnsafePointer<CChar>) -> String {
    let name = String(cString: name)
    return name.utf8.lastIndex(of: UInt8(ascii: ":")).map { String(name[name.utf8.index(after: $0)...]) }
      ?? name
  }
}
