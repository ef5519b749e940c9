! SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
! Fortran: scopes and actions by the C interface; docs/bindings.md explains it.
! env: GNOMON=simple
module gnomon
    use, intrinsic :: iso_c_binding
    implicit none
    private
    public :: gnomon_begin, gnomon_end, gnomon_start, gnomon_stop, gnomon_step
    public :: region_of, configure

    integer(c_int), parameter :: KIND_SCOPE = 0

    ! As much of gnomon_region as a mark reads: its first word.
    type, bind(c) :: region
        integer(c_int32_t) :: mask
    end type region

    interface
        function region_get(name, length, category, category_length, kind) &
                bind(c, name="gnomon_region_get_n") result(found)
            import :: c_ptr, c_char, c_size_t, c_int
            character(kind=c_char), intent(in) :: name(*)
            integer(c_size_t), value :: length, category_length
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
        function configure_n(spec, length) &
                bind(c, name="gnomon_configure_n") result(code)
            import :: c_char, c_size_t, c_int
            character(kind=c_char), intent(in) :: spec(*)
            integer(c_size_t), value :: length
            integer(c_int) :: code
        end function configure_n
    end interface

contains

    ! The region of a name, for gnomon_begin. Keep it: this takes a lock.
    function region_of(name) result(found)
        character(len=*), intent(in) :: name
        type(c_ptr) :: found
        found = region_get(name, len(name, c_size_t), c_null_ptr, &
            0_c_size_t, KIND_SCOPE)
    end function region_of

    ! Begins a scope. Returns the token for gnomon_end; 0: it is not recorded.
    function gnomon_begin(of) result(token)
        type(c_ptr), intent(in) :: of
        integer(c_int64_t) :: token
        type(region), pointer, volatile :: r
        integer(c_int32_t) :: mask
        call c_f_pointer(of, r)
        mask = r%mask
        token = 0
        if (mask /= 0) token = begin_slow(of, mask)
    end function gnomon_begin

    subroutine gnomon_end(token)
        integer(c_int64_t), intent(in) :: token
        if (token /= 0) call end_slow(token)
    end subroutine gnomon_end

    ! These look by themselves whether anything is attached.
    subroutine gnomon_start(name)
        character(len=*), intent(in) :: name
        call start_slow(name, len(name, c_size_t))
    end subroutine gnomon_start

    subroutine gnomon_stop(name)
        character(len=*), intent(in) :: name
        call stop_slow(name, len(name, c_size_t))
    end subroutine gnomon_stop

    subroutine gnomon_step()
        call step_slow(0_c_int64_t, 0_c_int)
    end subroutine gnomon_step

    ! As $GNOMON; 0 is success.
    function configure(spec) result(code)
        character(len=*), intent(in) :: spec
        integer(c_int) :: code
        code = configure_n(spec, len(spec, c_size_t))
    end function configure

end module gnomon

program train
    use, intrinsic :: iso_c_binding
    use gnomon
    implicit none
    type(c_ptr) :: forward
    integer(c_int64_t) :: token
    integer :: i
    real :: sum

    forward = region_of("forward")
    sum = 0
    do i = 1, 3
        call gnomon_start("train_step")
        token = gnomon_begin(forward)
        sum = sum + sqrt(real(i))
        call gnomon_end(token)
        call gnomon_stop("train_step")
        call gnomon_step()
    end do
    print '(a, f6.3)', "the sum is ", sum
end program train
