! SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
! gnomon for Fortran 2008. Compile this file with your program, by the same compiler, as
! modules have no common format; link libgnomon. What each call does, which threads may
! call it and what it returns stands at its namesake in gnomon.h;
! subroutines can not fail. Names may have blanks at their ends, which are left out.
module gnomon
    use, intrinsic :: iso_c_binding
    implicit none
    private
    public :: gnomon_region, gnomon_begin, gnomon_end
    public :: gnomon_range_begin, gnomon_range_end, gnomon_counter, gnomon_mark
    public :: gnomon_start, gnomon_stop, gnomon_step, gnomon_thread_name
    public :: gnomon_stage_begin, gnomon_stage_end, gnomon_attach
    public :: gnomon_teardown

    integer(c_int), parameter, public :: GNOMON_KIND_SCOPE = 0
    integer(c_int), parameter, public :: GNOMON_KIND_RANGE = 3
    integer(c_int), parameter, public :: GNOMON_KIND_MARK = 4
    integer(c_int), parameter, public :: GNOMON_KIND_COUNTER = 5

    ! As much of gnomon_region as a mark reads: its first word.
    type, bind(c) :: region
        integer(c_int32_t) :: mask
    end type region

    interface
        function region_get(name, category, kind) &
                bind(c, name="gnomon_region_get") result(found)
            import :: c_ptr, c_char, c_int
            character(kind=c_char), intent(in) :: name(*)
            type(c_ptr), value :: category
            integer(c_int), value :: kind
            type(c_ptr) :: found
        end function region_get
        function begin_slow(of, mask) &
                bind(c, name="gnomon_begin_slow") result(token)
            import :: c_ptr, c_int32_t, c_int64_t
            type(c_ptr), value :: of
            integer(c_int32_t), value :: mask
            integer(c_int64_t) :: token
        end function begin_slow
        subroutine end_slow(token) bind(c, name="gnomon_end_slow")
            import :: c_int64_t
            integer(c_int64_t), value :: token
        end subroutine end_slow
        function range_begin_slow(of, mask) &
                bind(c, name="gnomon_range_begin_slow") result(range)
            import :: c_ptr, c_int32_t, c_int64_t
            type(c_ptr), value :: of
            integer(c_int32_t), value :: mask
            integer(c_int64_t) :: range
        end function range_begin_slow
        subroutine range_end_slow(range) bind(c, name="gnomon_range_end_slow")
            import :: c_int64_t
            integer(c_int64_t), value :: range
        end subroutine range_end_slow
        subroutine counter_slow(of, mask, number) &
                bind(c, name="gnomon_counter_slow")
            import :: c_ptr, c_int32_t, c_double
            type(c_ptr), value :: of
            integer(c_int32_t), value :: mask
            real(c_double), value :: number
        end subroutine counter_slow
        subroutine mark_slow(of, mask) bind(c, name="gnomon_mark_slow")
            import :: c_ptr, c_int32_t
            type(c_ptr), value :: of
            integer(c_int32_t), value :: mask
        end subroutine mark_slow
        subroutine start_slow(name, length) &
                bind(c, name="gnomon_start_n_slow")
            import :: c_char, c_size_t
            character(kind=c_char), intent(in) :: name(*)
            integer(c_size_t), value :: length
        end subroutine start_slow
        subroutine stop_slow(name, length) bind(c, name="gnomon_stop_n_slow")
            import :: c_char, c_size_t
            character(kind=c_char), intent(in) :: name(*)
            integer(c_size_t), value :: length
        end subroutine stop_slow
        subroutine step_slow(number, given) bind(c, name="gnomon_step_slow")
            import :: c_int64_t, c_int
            integer(c_int64_t), value :: number
            integer(c_int), value :: given
        end subroutine step_slow
        subroutine thread_name(name) bind(c, name="gnomon_thread_name")
            import :: c_char
            character(kind=c_char), intent(in) :: name(*)
        end subroutine thread_name
        function stage_begin(name) bind(c, name="gnomon_stage_begin") &
                result(code)
            import :: c_char, c_int
            character(kind=c_char), intent(in) :: name(*)
            integer(c_int) :: code
        end function stage_begin
        function attach(profiler, self, words) bind(c, name="gnomon_attach") &
                result(code)
            import :: c_ptr, c_char, c_int
            type(c_ptr), value :: profiler, self
            character(kind=c_char), intent(in) :: words(*)
            integer(c_int) :: code
        end function attach
        function gnomon_stage_end() bind(c, name="gnomon_stage_end") &
                result(code)
            import :: c_int
            integer(c_int) :: code
        end function gnomon_stage_end
        function gnomon_teardown() bind(c, name="gnomon_teardown") &
                result(code)
            import :: c_int
            integer(c_int) :: code
        end function gnomon_teardown
    end interface

contains

    ! The region of a name, of a scope where no kind is given. Keep it: this takes a
    ! lock. Never null.
    function gnomon_region(name, kind) result(found)
        character(len=*), intent(in) :: name
        integer(c_int), intent(in), optional :: kind
        type(c_ptr) :: found
        integer(c_int) :: its
        its = GNOMON_KIND_SCOPE
        if (present(kind)) its = kind
        found = region_get(trim(name) // c_null_char, c_null_ptr, its)
    end function gnomon_region

    ! Whether, and for whom, marks of the region are recorded.
    function mask_of(of) result(mask)
        type(c_ptr), intent(in) :: of
        type(region), pointer, volatile :: r
        integer(c_int32_t) :: mask
        call c_f_pointer(of, r)
        mask = r%mask
    end function mask_of

    ! Begins a scope. Returns the token for gnomon_end; 0: it is not recorded.
    function gnomon_begin(of) result(token)
        type(c_ptr), intent(in) :: of
        integer(c_int64_t) :: token
        integer(c_int32_t) :: mask
        mask = mask_of(of)
        token = 0
        if (mask /= 0) token = begin_slow(of, mask)
    end function gnomon_begin

    subroutine gnomon_end(token)
        integer(c_int64_t), intent(in) :: token
        if (token /= 0) call end_slow(token)
    end subroutine gnomon_end

    function gnomon_range_begin(of) result(range)
        type(c_ptr), intent(in) :: of
        integer(c_int64_t) :: range
        integer(c_int32_t) :: mask
        mask = mask_of(of)
        range = 0
        if (mask /= 0) range = range_begin_slow(of, mask)
    end function gnomon_range_begin

    subroutine gnomon_range_end(range)
        integer(c_int64_t), intent(in) :: range
        if (range /= 0) call range_end_slow(range)
    end subroutine gnomon_range_end

    subroutine gnomon_counter(of, number)
        type(c_ptr), intent(in) :: of
        real(c_double), intent(in) :: number
        integer(c_int32_t) :: mask
        mask = mask_of(of)
        if (mask /= 0) call counter_slow(of, mask, number)
    end subroutine gnomon_counter

    subroutine gnomon_mark(of)
        type(c_ptr), intent(in) :: of
        integer(c_int32_t) :: mask
        mask = mask_of(of)
        if (mask /= 0) call mark_slow(of, mask)
    end subroutine gnomon_mark

    ! These look by themselves whether anything is attached.
    subroutine gnomon_start(name)
        character(len=*), intent(in) :: name
        call start_slow(name, len_trim(name, c_size_t))
    end subroutine gnomon_start

    subroutine gnomon_stop(name)
        character(len=*), intent(in) :: name
        call stop_slow(name, len_trim(name, c_size_t))
    end subroutine gnomon_stop

    ! With a number, the step that begins now has it: gnomon_step_at.
    subroutine gnomon_step(number)
        integer(c_int64_t), intent(in), optional :: number
        if (present(number)) then
            call step_slow(number, 1_c_int)
        else
            call step_slow(0_c_int64_t, 0_c_int)
        end if
    end subroutine gnomon_step

    subroutine gnomon_thread_name(name)
        character(len=*), intent(in) :: name
        call thread_name(trim(name) // c_null_char)
    end subroutine gnomon_thread_name

    ! These return 0, or an error of gnomon.h.
    function gnomon_stage_begin(name) result(code)
        character(len=*), intent(in) :: name
        integer(c_int) :: code
        code = stage_begin(trim(name) // c_null_char)
    end function gnomon_stage_begin

    ! Attaches what the words say, as $GNOMON does.
    function gnomon_attach(words) result(code)
        character(len=*), intent(in) :: words
        integer(c_int) :: code
        code = attach(c_null_ptr, c_null_ptr, trim(words) // c_null_char)
    end function gnomon_attach

end module gnomon
